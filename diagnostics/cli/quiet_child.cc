#include "diagnostics/cli/quiet_child.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "checks/engine/text.h"
#include "checks/observe/launcher/signal_guard.h"

namespace dlcheck::cli {

namespace {

absl::StatusOr<pid_t> Start(const posix_spawn_file_actions_t* actions,
                            const posix_spawnattr_t* attributes, Words& command) {
  std::vector<char*> arguments;
  for (std::string& word : command) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int error =
      posix_spawnp(&child, arguments[0], actions, attributes, arguments.data(), environ);
  if (error != 0) {
    return absl::UnavailableError(StrCat("cannot start ", command[0], ": ", strerror(error)));
  }
  return child;
}

int StatusOf(pid_t child) {
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
  const absl::StatusOr<pid_t> child = Start(&actions, nullptr, command);
  posix_spawn_file_actions_destroy(&actions);
  if (!child.ok()) return child.status();
  return StatusOf(*child);
}

absl::StatusOr<int> RunAloud(Words command) {
  const SignalGuard guard;
  // The command begins with signals as they are without the guard.
  sigset_t none, ignored;
  sigemptyset(&none);
  sigemptyset(&ignored);
  sigaddset(&ignored, SIGQUIT);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &ignored);
  absl::StatusOr<pid_t> child = 0;
  {
    const HeldSignals held;
    child = Start(nullptr, &attributes, command);
    if (child.ok()) SignalGuard::PassOnTo(*child);
  }
  posix_spawnattr_destroy(&attributes);
  if (!child.ok()) return child.status();
  const int status = StatusOf(*child);
  SignalGuard::PassOnTo(0);
  return status;
}

}  // namespace dlcheck::cli
