#include "checks/observe/launcher/process_start.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/observe/launcher/environment.h"
#include "checks/observe/launcher/network.h"
#include "checks/observe/launcher/signal_guard.h"
#include "checks/records/line_file.h"
#include "checks/records/trace_writer.h"

namespace dlcheck {
namespace {

constexpr unsigned kOwnFile = 0600;

absl::Status ToStatusOnly(const Expected<Done>& done) {
  return done.ok() ? absl::OkStatus() : ToStatus(done.failure());
}

// Takes space for the word of a probe that cannot write its records, as on a full disk. Without it
// that word is lost, and nothing else.
void ReserveLosses(const std::string& folder) {
  constexpr off_t kReserved = 4096;
  const std::string path = StrCat(folder, "/", kLossesFile);
  const int file =
      open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kOwnFile);
  if (file < 0) return;
  (void)fallocate(file, FALLOC_FL_KEEP_SIZE, 0, kReserved);
  close(file);
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void GiveUp(int error_pipe) {
  const int error = errno;
  (void)!write(error_pipe, &error, sizeof(error));
  _exit(127);
}

// True if nothing is read from the terminal, or written to it, from here on.
bool LeaveTerminal(const char* output) {
  const int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int log = open(output, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600);
  return null >= 0 && log >= 0 && dup2(null, STDIN_FILENO) >= 0 && dup2(log, STDOUT_FILENO) >= 0 &&
         dup2(log, STDERR_FILENO) >= 0;
}

// In the child, between fork and exec: system calls only.
[[noreturn]] void BecomeCommand(const Launch& launch, char** arguments, char** environment,
                                char* private_files, const char* output, int error_pipe) {
  if (launch.own_group) {
    const bool has_own = launch.files && launch.files->Enter(launch.request.run_folder.c_str());
    if (has_own) private_files[sizeof(kPrivateFilesVariable) - 2] = '1';
    if (launch.needs_own_files && !has_own) {
      errno = ENOTSUP;
      GiveUp(error_pipe);
    }
    if (!launch.keeps_network) (void)CutNetwork();
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (!LeaveTerminal(output)) GiveUp(error_pipe);
  }
  if (launch.channel >= 0) fcntl(launch.channel, F_SETFD, 0);
  RestoreSignals();
  execvpe(arguments[0], arguments, environment);
  GiveUp(error_pipe);
}

// Else the system has no descriptor, memory or space at the moment.
bool IsWrongCommand(int error) {
  return error == ENOENT || error == EACCES || error == ENOEXEC || error == ENOTDIR ||
         error == EISDIR || error == ELOOP || error == ENAMETOOLONG || error == E2BIG;
}

}  // namespace

absl::Status WriteRunFolder(const Launch& launch) {
  const std::string& folder = launch.request.run_folder;
  const std::string request = FormatRequest(launch.request);
  ReserveLosses(folder);
  DLCHECK_RETURN_IF_ERROR(
      ToStatusOnly(WriteWholeFile(StrCat(folder, "/", kRequestFile), request, kOwnFile)));
  if (launch.python_folder.empty()) return absl::OkStatus();
  DLCHECK_ASSIGN_OR_RETURN(
      const std::string boot,
      ToStatusOr(ReadWholeFile(launch.python_folder + "/boot/sitecustomize.py", 1 << 20)));
  if (mkdir((folder + "/boot").c_str(), 0700) != 0 && errno != EEXIST) {
    return absl::UnavailableError(StrCat("cannot make '", folder, "/boot': ", strerror(errno)));
  }
  DLCHECK_RETURN_IF_ERROR(
      ToStatusOnly(WriteWholeFile(folder + "/boot/sitecustomize.py", boot, kOwnFile)));
  std::string own = FormatLine({"shim", launch.python_folder});
  if (launch.channel >= 0) {
    own += FormatLine({"channel", StrCat(launch.channel)});
    own += FormatLine({"supervisor", StrCat(getpid())});
  }
  return ToStatusOnly(WriteWholeFile(folder + "/boot/request", request + own, kOwnFile));
}

absl::StatusOr<pid_t> StartProcess(const Launch& launch) {
  std::vector<std::string> command = launch.command;
  std::vector<std::string> environment = EnvironmentOf(launch);
  const std::vector<char*> arguments = Pointers(command);
  const std::vector<char*> variables = Pointers(environment);
  const std::string output = launch.request.run_folder + "/output";
  int error_pipe[2];
  if (pipe2(error_pipe, O_CLOEXEC) != 0) return absl::UnavailableError(strerror(errno));
  const pid_t child = fork();
  if (child == 0) {
    BecomeCommand(launch, const_cast<char**>(arguments.data()),
                  const_cast<char**>(variables.data()), environment.back().data(), output.c_str(),
                  error_pipe[1]);
  }
  const int fork_error = errno;
  close(error_pipe[1]);
  int error = 0;
  const ssize_t got = child > 0 ? read(error_pipe[0], &error, sizeof(error)) : 0;
  close(error_pipe[0]);
  if (child < 0) return absl::UnavailableError(StrCat("cannot fork: ", strerror(fork_error)));
  if (got == sizeof(error)) {
    waitpid(child, nullptr, 0);
    if (launch.needs_own_files && error == ENOTSUP) {
      return absl::FailedPreconditionError("this system gives a run no files of its own");
    }
    const std::string cause = StrCat("cannot run '", launch.command[0], "': ", strerror(error));
    return IsWrongCommand(error) ? absl::InvalidArgumentError(cause)
                                 : absl::UnavailableError(cause);
  }
  return child;
}

pid_t StartHolder(const Launch& launch) {
  int pipes[2];
  if (pipe2(pipes, O_CLOEXEC) != 0) return 0;
  const pid_t child = fork();
  if (child == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    setpgid(0, 0);
    const bool has_own = launch.files && launch.files->Enter(launch.request.run_folder.c_str());
    if (has_own && !launch.keeps_network) (void)CutNetwork();
    if (has_own) (void)!write(pipes[1], "1", 1);
    close(pipes[1]);
    RestoreSignals();
    while (true) pause();
  }
  close(pipes[1]);
  char has_own = 0;
  const bool is_there = child > 0 && read(pipes[0], &has_own, 1) == 1;
  close(pipes[0]);
  if (child > 0 && !is_there) EndChild(child);
  return is_there ? child : 0;
}

bool HasEnded(pid_t child) {
  siginfo_t state = {};
  return waitid(P_PID, child, &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == child;
}

void EndChild(pid_t child) {
  kill(child, SIGKILL);
  while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace dlcheck
