#include "reference/training/preflight.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "checks/records/request.h"
#include "reference/models/hosted_model.h"
#include "reference/recipe/rejection.h"
#include "reference/training/memory_limit.h"
#include "reference/training/stop_signal.h"

namespace dlcheck::reference {
namespace {

// Words of a preflight: this, the pipe's number, the limit of memory, the path, the classes and the
// extents of a sample. Its lines through the pipe: a letter, a text, an end of line.
constexpr char kWord[] = "--preflight";
constexpr int kFirstExtent = 6;
constexpr char kStage = 'S', kRefused = 'R', kDone = 'D';
constexpr int kLookMilliseconds = 50;

void Write(int pipe, char kind, const std::string& text) {
  const std::string line = kind + text + "\n";
  (void)!write(pipe, line.data(), line.size());
}

std::vector<std::string> Words(const Recipe& recipe, const InputShape& sample_shape,
                               int64_t classes, int pipe) {
  std::vector<std::string> words = {"dlcheck-train",      kWord,
                                    std::to_string(pipe), std::to_string(recipe.memory_limit_mib),
                                    recipe.model,         std::to_string(classes)};
  for (const int64_t extent : sample_shape) words.push_back(std::to_string(extent));
  return words;
}

// Unwatched, in a group of its own, and gone when this process is.
pid_t Start(std::vector<std::string> words) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  std::vector<char*> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, kRequestVariable, std::strlen(kRequestVariable)) != 0) {
      variables.push_back(*entry);
    }
  }
  variables.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  // Between fork and exec: system calls only.
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  dup2(open("/dev/null", O_RDONLY), STDIN_FILENO);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  execve("/proc/self/exe", arguments.data(), variables.data());
  _exit(1);
}

bool HasEnded(pid_t child) {
  siginfo_t state{};
  return waitid(P_PID, child, &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == child;
}

// What came through the pipe until the child ended or a signal came.
std::string Listen(int pipe, pid_t child) {
  std::string heard;
  for (bool ended = false; !ended;) {
    ended = HasEnded(child) || StopSignal::Came() != 0;  // before the last look
    pollfd ready{pipe, POLLIN, 0};
    while (poll(&ready, 1, ended ? 0 : kLookMilliseconds) > 0) {
      char text[512];
      const ssize_t count = read(pipe, text, sizeof(text));
      if (count <= 0) break;
      heard.append(text, static_cast<size_t>(count));
    }
    // It closed the pipe and lives on.
    if (!ended && (ready.revents & POLLHUP) != 0) poll(nullptr, 0, kLookMilliseconds);
  }
  return heard;
}

// The last line of what was heard: its letter and its text.
std::pair<char, std::string> LastOf(const std::string& heard) {
  if (heard.empty()) return {kStage, "its loading"};
  const size_t end = heard.rfind('\n', heard.size() - 2);
  const std::string line = heard.substr(end == std::string::npos ? 0 : end + 1);
  return {line[0], line.substr(1, line.size() - 2)};
}

std::string HowItEnded(int status) {
  if (WIFEXITED(status)) {
    return "ended the process with status " + std::to_string(WEXITSTATUS(status));
  }
  const int number = WTERMSIG(status);
  return "was ended by signal " + std::to_string(number) + " (" + strsignal(number) + ")";
}

}  // namespace

void PreflightInChild(const Recipe& recipe, const InputShape& sample_shape, int64_t classes) {
  int ends[2];
  if (pipe(ends) != 0)
    throw std::runtime_error(std::string("cannot make a pipe: ") + strerror(errno));
  const StopSignal signals;
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = Start(Words(recipe, sample_shape, classes, ends[1]));
  close(ends[1]);
  const std::string heard = child > 0 ? Listen(ends[0], child) : "";
  close(ends[0]);
  if (child < 0) throw std::runtime_error(std::string("cannot fork: ") + strerror(errno));
  const int came = StopSignal::Came();
  kill(-child, SIGKILL);  // with what it started; nothing where all of it has ended
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const auto [kind, text] = LastOf(heard);
  if (kind == kDone) return;
  if (kind == kRefused) throw InputRejected(recipe.model, text);
  if (came == 0) throw InputRejected(recipe.model, text + " " + HowItEnded(status));
  if (came == SIGINT) raise(SIGINT);
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
  throw InputRejected(recipe.model, text + " had not come back after " +
                                        std::to_string(static_cast<int64_t>(waited.count())) +
                                        " seconds, when the program was told to end");
}

std::optional<int> Preflight(int count, const char* const* arguments) {
  if (count < kFirstExtent || arguments[1] != std::string(kWord)) return std::nullopt;
  const int pipe = std::stoi(arguments[2]);
  InputShape sample_shape;
  for (int i = kFirstExtent; i < count; ++i) sample_shape.push_back(std::stoll(arguments[i]));
  LimitMemory(std::stoll(arguments[3]));
  try {
    HostModel(arguments[4], sample_shape, std::stoll(arguments[5]),
              [pipe](const char* stage) { Write(pipe, kStage, stage); });
  } catch (const InputRejected& rejection) {
    Write(pipe, kRefused, rejection.cause);
    return 2;
  }
  Write(pipe, kDone, "");
  // What the library does as it is unloaded is of no interest here.
  _exit(0);
}

}  // namespace dlcheck::reference
