// A change of a Python program's source that mends a finding, as a value. Source is parsed by
// Python in a process of its own.
#pragma once

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "diagnostics/cli/commands.h"

namespace dlcheck::cli {

struct Suggestion {
  std::string check;         // whose finding it mends
  std::string file;          // of the program; absolute
  std::string changed_file;  // holds the whole text as it should be
  std::string diff;
  bool keeps_loss = true;  // the loss means the same with the change
};

// The command that prints the first suggestion for a result.json. With a folder, it writes the
// suggestion there. Errors: NotFound where dlcheck's Python files are not there.
absl::StatusOr<Words> SuggestCommand(const std::string& result_file, const std::string& folder);

// Writes the first suggestion for a result into a folder that exists. None where no finding has a
// repair that is known. Cost: one start of Python. Errors: Unavailable, NotFound.
absl::StatusOr<std::optional<Suggestion>> MakeSuggestion(const std::string& result_file,
                                                         const std::string& folder);

}  // namespace dlcheck::cli
