// Where this binary's own files are: beside it, in the build tree and in an installed tree alike.
#pragma once

#include <string>

namespace dlcheck::cli {

// `bin/NAME` beside this binary.
std::string SiblingBinary(const std::string& name);

// The folder of the Python shim; empty if it is not there.
std::string PythonFolder();

}  // namespace dlcheck::cli
