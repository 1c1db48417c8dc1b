// Where this binary's own files are: beside it, in the build tree and in an installed tree alike.
#pragma once

#include <string>

#include "absl/status/statusor.h"

namespace dlcheck::cli {

// `bin/NAME` beside this binary.
std::string SiblingBinary(const std::string& name);

// `share/dlcheck/NAME` beside the folder of this binary.
std::string ShareFolder(const std::string& name);

// The folder of the Python shim. Errors: NotFound if it is not there; Unavailable.
absl::StatusOr<std::string> PythonFolder();

}  // namespace dlcheck::cli
