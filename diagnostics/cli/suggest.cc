// `dlcheck suggest [DIR]`: prints a change of the program that would mend a finding, as a diff.
// Source is read by Python's own parser, in a process of its own that takes this one's place.
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "diagnostics/cli/command_line.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/suggestion.h"

namespace dlcheck::cli {

int SuggestMain(const Words& words) {
  std::string path = "dlcheck-out";
  CommandLine line(
      "suggest [DIR]",
      "Prints a diff that mends the first finding of an earlier run for which a repair is known.");
  line.Value("DIR", "DIR", &path, "an output folder of dlcheck run (dlcheck-out)");
  if (const auto code = line.Parse(words)) return *code;
  const std::string file = path + "/result.json";
  if (std::error_code error; !std::filesystem::exists(file, error)) {
    return Refuse(absl::NotFoundError(StrCat("there is no '", file, "'")));
  }
  absl::StatusOr<Words> command = SuggestCommand(file, "");
  if (!command.ok()) return Refuse(command.status());
  std::vector<char*> arguments;
  for (std::string& word : *command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  return Refuse(absl::UnavailableError(StrCat("cannot start python3: ", std::strerror(errno))));
}

}  // namespace dlcheck::cli
