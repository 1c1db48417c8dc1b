// What a user may declare about a program, so that what a legal program may do on purpose becomes
// an error where it was not meant. A declaration reaches the checks as the process attribute
// `declared.KEY` of every run.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck::cli {

using Declarations = std::map<std::string, std::string>;

// Adds `key = value`, as of [declare] or --declare. Errors: InvalidArgument with the nearest key,
// or the values that a key may have.
absl::Status Declare(const std::string& key, const std::string& value, Declarations& declarations);

// "KEY=VALUE"
absl::Status DeclareFromText(const std::string& text, Declarations& declarations);

// What the user declares stands over what the program itself said.
void SetDeclared(const Declarations& declarations, Trace& trace);

}  // namespace dlcheck::cli
