#include "checks/observe/launcher/child_output.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "checks/engine/clock.h"
#include "checks/engine/text.h"

namespace dlcheck {
namespace {

std::vector<char*> Pointers(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> Environment(const std::vector<std::string>& variables) {
  std::vector<std::string> environment = variables;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  return environment;
}

// Starts the command with its standard output in `pipe`. Gives an error number.
int Spawn(std::vector<std::string> command, const std::vector<std::string>& variables,
          const int pipe[2], pid_t& child) {
  std::vector<std::string> environment = Environment(variables);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], STDOUT_FILENO);
  const int error = posix_spawnp(&child, command[0].c_str(), &actions, nullptr,
                                 Pointers(command).data(), Pointers(environment).data());
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

// Reads to the end of the pipe; false where the time or the room is used up before.
bool ReadAll(int pipe, absl::Duration until, size_t most_bytes, std::string& text) {
  char buffer[65536];
  while (true) {
    const int64_t left = absl::ToInt64Milliseconds(until - MonotonicNow());
    pollfd readable{pipe, POLLIN, 0};
    if (left <= 0 || poll(&readable, 1, static_cast<int>(left)) == 0) return false;
    const ssize_t got = read(pipe, buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0;
    text.append(buffer, static_cast<size_t>(got));
    if (text.size() > most_bytes) return false;
  }
}

}  // namespace

absl::StatusOr<std::string> OutputOf(const std::vector<std::string>& command,
                                     const std::vector<std::string>& variables,
                                     absl::Duration deadline, size_t most_bytes) {
  int pipe[2];
  if (pipe2(pipe, O_CLOEXEC) != 0) return absl::UnavailableError(strerror(errno));
  pid_t child = 0;
  const int error = Spawn(command, variables, pipe, child);
  close(pipe[1]);
  std::string text;
  const bool whole = error == 0 && ReadAll(pipe[0], MonotonicNow() + deadline, most_bytes, text);
  close(pipe[0]);
  if (error != 0) {
    return absl::UnavailableError(StrCat("cannot start ", command[0], ": ", strerror(error)));
  }
  if (!whole) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!whole) return absl::UnavailableError(StrCat(command[0], " took too long or said too much"));
  if (status != 0) return absl::UnavailableError(StrCat(command[0], " failed"));
  return text;
}

}  // namespace dlcheck
