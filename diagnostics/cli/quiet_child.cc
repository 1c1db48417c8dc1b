#include "diagnostics/cli/quiet_child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "checks/engine/text.h"

namespace dlcheck::cli {

namespace {

absl::StatusOr<int> RunWith(const posix_spawn_file_actions_t* actions, Words& command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error = posix_spawnp(&child, arguments[0], actions, nullptr, arguments.data(), environ);
  if (error != 0) {
    return absl::UnavailableError(StrCat("cannot start ", command[0], ": ", strerror(error)));
  }
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

absl::StatusOr<int> RunQuietly(Words command) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    posix_spawn_file_actions_addopen(&actions, stream, "/dev/null", O_RDWR, 0);
  }
  const absl::StatusOr<int> status = RunWith(&actions, command);
  posix_spawn_file_actions_destroy(&actions);
  return status;
}

absl::StatusOr<int> RunAloud(Words command) { return RunWith(nullptr, command); }

}  // namespace dlcheck::cli
