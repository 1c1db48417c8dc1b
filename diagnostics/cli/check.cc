// `dlcheck check ARGS` is `dlcheck run --deep OURS -- dlcheck-train REST`, and says so.
#include <unistd.h>

#include <cstdio>

#include "checks/engine/text.h"
#include "diagnostics/cli/commands.h"
#include "diagnostics/cli/config/options.h"
#include "diagnostics/cli/places.h"

namespace dlcheck::cli {

int CheckMain(const Words& words) {
  Options options;
  CommandLine line(
      "check [OPTIONS] [OPTIONS OF dlcheck-train]",
      "Trains a model with the reference trainer under every experiment and judges it.\n"
      "Options that are not listed here go to dlcheck-train.");
  AddRunOptions(line, options);
  Words rest;
  if (const auto code = line.Parse(words, &rest)) return *code;
  const std::string trainer = SiblingBinary("dlcheck-train");
  if (access(trainer.c_str(), X_OK) != 0) {
    return Refuse(absl::InvalidArgumentError(
        StrCat("'", trainer, "' is not there: this dlcheck was built without LibTorch")));
  }
  // What run knows is what the parser took; the words keep their order in both parts.
  Words command = {"--deep"};
  size_t next_of_rest = 0;
  for (const std::string& word : words) {
    if (next_of_rest < rest.size() && word == rest[next_of_rest]) {
      ++next_of_rest;
    } else {
      command.push_back(word);
    }
  }
  // A user's model may loop for ever; a training program of the user's own is never cut short.
  if (!options.timeout) command.insert(command.end(), {"--timeout", "600"});
  command.push_back("--");
  command.push_back(trainer);
  command.insert(command.end(), rest.begin(), rest.end());
  std::string shown = "dlcheck run";
  for (const std::string& word : command) StrAppend(&shown, " ", word);
  std::fprintf(stderr, "%s\n", shown.c_str());
  return RunMain(command);
}

}  // namespace dlcheck::cli
