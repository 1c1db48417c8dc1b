#include "diagnostics/cli/suggestion.h"

#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "diagnostics/cli/places.h"
#include "diagnostics/cli/quiet_child.h"

namespace dlcheck::cli {
namespace {

// Isolated: neither the environment nor the folder at hand has a say in what is imported.
constexpr char kStart[] =
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import runpy; "
    "runpy.run_module('dlcheck_suggest', run_name='__main__', alter_sys=True)";
constexpr size_t kMostBytes = 8 << 20;  // of a file that Python wrote for us

}  // namespace

absl::StatusOr<Words> SuggestCommand(const std::string& result_file, const std::string& folder) {
  DLCHECK_ASSIGN_OR_RETURN(const std::string python, PythonFolder());
  Words command{"python3", "-I", "-B", "-c", kStart, python, result_file};
  if (!folder.empty()) command.push_back(folder);
  return command;
}

absl::StatusOr<std::optional<Suggestion>> MakeSuggestion(const std::string& result_file,
                                                         const std::string& folder) {
  DLCHECK_ASSIGN_OR_RETURN(const Words command, SuggestCommand(result_file, folder));
  DLCHECK_ASSIGN_OR_RETURN(const int code, RunQuietly(command));
  if (code != 0) return absl::UnavailableError("the program's source cannot be read");
  const Expected<std::string> text = ReadWholeFile(folder + "/suggestion", kMostBytes);
  if (!text.ok()) return std::nullopt;
  const Expected<std::string> diff = ReadWholeFile(folder + "/change.diff", kMostBytes);
  if (!diff.ok()) return ToStatus(diff.failure());
  Suggestion suggestion{
      .check = "", .file = "", .changed_file = folder + "/changed", .diff = *diff};
  for (const LineFields& line : ParseLines(*text)) {
    if (line.size() != 2) continue;
    if (line[0] == "check") suggestion.check = line[1];
    if (line[0] == "file") suggestion.file = line[1];
    if (line[0] == "keeps_loss") suggestion.keeps_loss = line[1] == "1";
  }
  if (suggestion.check.empty() || suggestion.file.empty()) return std::nullopt;
  return suggestion;
}

}  // namespace dlcheck::cli
