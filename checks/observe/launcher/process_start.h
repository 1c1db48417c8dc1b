// Starts the process of a launch, between fork and exec.
#pragma once

#include <sys/types.h>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "checks/observe/launcher/launcher.h"

namespace dlcheck {

// The request for C++ programs and, in a folder that Python searches first, for Python programs.
// Errors: Unavailable.
absl::Status WriteRunFolder(const Launch& launch);

// Errors: as RunCommand.
absl::StatusOr<pid_t> StartProcess(const Launch& launch);

// A process that only has the files and the network of a launch, for another one to enter; 0 where
// the system gives none.
pid_t StartHolder(const Launch& launch);

// Whether a child has ended and was not waited for yet.
bool HasEnded(pid_t child);

// Kills a child and waits for it.
void EndChild(pid_t child);

}  // namespace dlcheck
