#include "checks/observe/launcher/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "checks/engine/clock.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/observe/launcher/descendants.h"
#include "checks/observe/launcher/environment.h"
#include "checks/observe/launcher/network.h"
#include "checks/observe/launcher/signal_guard.h"
#include "checks/observe/launcher/source_lines.h"
#include "checks/records/line_file.h"
#include "checks/records/trace_writer.h"

namespace dlcheck {
namespace {

constexpr unsigned kOwnFile = 0600;
constexpr absl::Duration kGrace = absl::Seconds(5);  // from SIGTERM to SIGKILL

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

// The request for C++ programs and, in a folder that Python searches first, for Python programs.
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
  return ToStatusOnly(WriteWholeFile(
      folder + "/boot/request", request + FormatLine({"shim", launch.python_folder}), kOwnFile));
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
  RestoreSignals();
  execvpe(arguments[0], arguments, environment);
  GiveUp(error_pipe);
}

// Else the system has no descriptor, memory or space at the moment.
bool IsWrongCommand(int error) {
  return error == ENOENT || error == EACCES || error == ENOEXEC || error == ENOTDIR ||
         error == EISDIR || error == ELOOP || error == ENAMETOOLONG || error == E2BIG;
}

absl::StatusOr<pid_t> Start(const Launch& launch) {
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

bool HasEnded(pid_t child) {
  siginfo_t state = {};
  return waitid(P_PID, child, &state, WEXITED | WNOHANG | WNOWAIT) == 0 && state.si_pid == child;
}

// Sleeps until the child ends, for `most` at the longest. Without a handle (a kernel before 5.3) it
// wakes every 10 milliseconds.
void Sleep(int handle, absl::Duration most) {
  most = std::min(most, handle < 0 ? absl::Milliseconds(10) : absl::Seconds(1));
  pollfd ended{handle, POLLIN, 0};
  poll(&ended, 1, static_cast<int>(absl::ToInt64Milliseconds(most)) + 1);
}

enum class Waited : uint8_t { kEnded, kTimeIsUp, kStopped };

// Waits until the child ends, the time is up, or a look says that it is to be stopped.
Waited WaitUntil(pid_t child, int handle, absl::Duration until, const Launch& launch,
                 std::string& stopped_by) {
  absl::Duration next_look = launch.look ? absl::ZeroDuration() : absl::InfiniteDuration();
  while (!HasEnded(child)) {
    const absl::Duration now = MonotonicNow();
    if (now >= until || (launch.own_group && WasInterrupted())) return Waited::kTimeIsUp;
    if (now >= next_look) {
      Look look = launch.look();
      next_look = MonotonicNow() + look.next;
      if (!look.stopped_by.empty()) {
        stopped_by = std::move(look.stopped_by);
        return Waited::kStopped;
      }
      continue;
    }
    Sleep(handle, std::min(until, next_look) - now);
  }
  return Waited::kEnded;
}

// SIGTERM, and SIGKILL for what is still there after the grace.
void End(pid_t child, int handle, pid_t target) {
  kill(target, SIGTERM);
  const absl::Duration until = MonotonicNow() + kGrace;
  while (!HasEnded(child)) {
    const absl::Duration now = MonotonicNow();
    if (now >= until) {
      kill(target, SIGKILL);
      return;
    }
    Sleep(handle, until - now);
  }
}

Ending EndingOf(int status) {
  if (WIFSIGNALED(status)) return {Ending::How::kKilled, WTERMSIG(status)};
  const int code = WEXITSTATUS(status);
  return {code == 0 ? Ending::How::kFinished : Ending::How::kFailed, code};
}

// How a command ended that was waited for until `waited`. A plain run that did not end well after a
// signal to us was stopped by that, whether it caught the signal or not.
Ending Judged(const Launch& launch, Waited waited, const Ending& ending,
              const std::string& stopped_by) {
  // As a shell gives it.
  const int status = ending.status + (ending.how == Ending::How::kKilled ? 128 : 0);
  if (waited == Waited::kStopped) return {Ending::How::kStopped, status, stopped_by};
  const int signal = LastSignal();
  if (signal != 0 && !launch.own_group && ending.how != Ending::How::kFinished) {
    return {Ending::How::kStopped, status, SignalName(signal)};
  }
  return waited == Waited::kTimeIsUp ? Ending{Ending::How::kDeadline, 0} : ending;
}

Ending WaitFor(pid_t child, const Launch& launch) {
  // By number: the C library's own declaration is not usable from C++ before glibc 2.37.
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  const absl::Duration until = MonotonicNow() + launch.deadline;
  std::string stopped_by;
  const Waited waited = WaitUntil(child, handle, until, launch, stopped_by);
  if (waited != Waited::kEnded) End(child, handle, launch.own_group ? -child : child);
  // Of an experiment's group nothing may stay behind, whether it ended by itself or not.
  if (launch.own_group) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (launch.own_group) EndDescendants();
  if (handle >= 0) close(handle);
  return Judged(launch, waited, EndingOf(status), stopped_by);
}

}  // namespace

absl::StatusOr<Ended> RunCommand(const Launch& launch) {
  DLCHECK_RETURN_IF_ERROR(WriteRunFolder(launch));
  const SignalGuard guard;
  AdoptDescendants(launch.own_group);
  pid_t child = 0;
  {
    const HeldSignals held;
    DLCHECK_ASSIGN_OR_RETURN(child, Start(launch));
    SignalGuard::PassOnTo(launch.own_group ? 0 : child);
  }
  const Ending ending = WaitFor(child, launch);
  SignalGuard::PassOnTo(0);
  WriteSourceLines(launch.request.run_folder);
  return Ended{ending, WriteEnding(launch.request.run_folder, ending)};
}

bool WasInterrupted() { return LastSignal() != 0; }

}  // namespace dlcheck
