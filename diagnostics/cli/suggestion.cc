#include "diagnostics/cli/suggestion.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "diagnostics/cli/places.h"

namespace dlcheck::cli {
namespace {

// Isolated: neither the environment nor the folder at hand has a say in what is imported.
constexpr char kStart[] =
    "import sys; sys.path.insert(0, sys.argv.pop(1)); import runpy; "
    "runpy.run_module('dlcheck_suggest', run_name='__main__', alter_sys=True)";
constexpr size_t kMostBytes = 8 << 20;  // of a file that Python wrote for us

// Waits for a command that says nothing; an error where it did not end by itself with 0.
absl::Status RunQuietly(Words command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) {
    return absl::UnavailableError(StrCat("cannot start ", command[0], ": ", strerror(error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (status == 0) return absl::OkStatus();
  return absl::UnavailableError("the program's source cannot be read");
}

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
  DLCHECK_RETURN_IF_ERROR(RunQuietly(command));
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
