// What another program says, as the dynamic loader or a reader of debug information.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace dlcheck {

// Starts a command with these variables beside our own, nothing to read and no standard error, and
// gives what it wrote to standard output. Errors: Unavailable if it cannot be started, ended badly,
// wrote more than `most_bytes`, or took longer than `deadline`; it is ended then.
absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& command,
                                     const std::vector<std::string>& variables,
                                     absl::Duration deadline, size_t most_bytes);

}  // namespace dlcheck
