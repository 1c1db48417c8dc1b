// The environment that a command runs in: the user's own, and what probes need to know.
#pragma once

#include <string>
#include <vector>

#include "checks/observe/launcher/launcher.h"

namespace dlcheck {

// Tells probes whether all that an experiment writes is its own; the last character is set where it
// is.
inline constexpr char kPrivateFilesVariable[] = "DLCHECK_PRIVATE_FILES=0";

// Each as NAME=VALUE; of an experiment, that variable comes last.
std::vector<std::string> EnvironmentOf(const Launch& launch);

}  // namespace dlcheck
