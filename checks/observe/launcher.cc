#include "checks/observe/launcher.h"

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

#include "absl/time/clock.h"
#include "checks/engine/status.h"
#include "checks/engine/text.h"
#include "checks/engine/trace_reader.h"
#include "checks/observe/trackers.h"
#include "checks/records/line_file.h"

namespace dlcheck {
namespace {

// Tells probes whether all that an experiment writes is its own; the last character is set where it
// is.
constexpr char kPrivateFilesVariable[] = "DLCHECK_PRIVATE_FILES=0";
constexpr absl::Duration kGrace = absl::Seconds(5);  // from SIGTERM to SIGKILL

volatile sig_atomic_t interrupted = 0;
volatile pid_t plain_child = 0;

// A terminal's Ctrl-C reaches the plain child by itself; a SIGTERM sent to us alone does not.
void OnSignal(int signal) {
  interrupted = signal;
  if (signal == SIGTERM && plain_child > 0) kill(plain_child, SIGTERM);
}

// Notes signals while a command runs, and restores what was there before.
class SignalGuard {
 public:
  SignalGuard() {
    struct sigaction action = {};
    action.sa_handler = OnSignal;
    sigaction(SIGINT, &action, &interrupt_);
    sigaction(SIGTERM, &action, &terminate_);
    sigaction(SIGHUP, nullptr, &hang_up_);
    if (hang_up_.sa_handler != SIG_IGN) sigaction(SIGHUP, &action, nullptr);  // not under nohup
    action.sa_handler = SIG_IGN;
    sigaction(SIGQUIT, &action, &quit_);
  }
  ~SignalGuard() {
    sigaction(SIGINT, &interrupt_, nullptr);
    sigaction(SIGTERM, &terminate_, nullptr);
    sigaction(SIGHUP, &hang_up_, nullptr);
    sigaction(SIGQUIT, &quit_, nullptr);
  }

 private:
  struct sigaction interrupt_, terminate_, hang_up_, quit_;
};

absl::Status ToStatusOnly(const Expected<Done>& done) {
  return done.ok() ? absl::OkStatus() : ToStatus(done.failure());
}

// The request for C++ programs and, in a folder that Python searches first, for Python programs.
absl::Status WriteRunFolder(const Launch& launch) {
  const std::string& folder = launch.request.run_folder;
  const std::string request = FormatRequest(launch.request);
  DLCHECK_RETURN_IF_ERROR(ToStatusOnly(WriteWholeFile(StrCat(folder, "/", kRequestFile), request)));
  if (launch.python_folder.empty()) return absl::OkStatus();
  DLCHECK_ASSIGN_OR_RETURN(
      const std::string boot,
      ToStatusOr(ReadWholeFile(launch.python_folder + "/boot/sitecustomize.py", 1 << 20)));
  if (mkdir((folder + "/boot").c_str(), 0755) != 0 && errno != EEXIST) {
    return absl::UnavailableError(StrCat("cannot make '", folder, "/boot': ", strerror(errno)));
  }
  DLCHECK_RETURN_IF_ERROR(ToStatusOnly(WriteWholeFile(folder + "/boot/sitecustomize.py", boot)));
  return ToStatusOnly(WriteWholeFile(folder + "/boot/request",
                                     request + FormatLine({"shim", launch.python_folder})));
}

// True for a variable of ours in this run, whatever the user's environment says.
bool IsReplaced(std::string_view entry, const Launch& launch) {
  const std::string_view name = entry.substr(0, entry.find('=') + 1);
  if (entry.starts_with(StrCat(kRequestVariable, "="))) return true;
  if (std::string_view(kPrivateFilesVariable).starts_with(name)) return true;
  return launch.own_group && std::ranges::any_of(kTrackersOff, [name](std::string_view off) {
           return off.starts_with(name);
         });
}

std::vector<std::string> Environment(const Launch& launch) {
  std::vector<std::string> environment;
  std::string python_path = launch.request.run_folder + "/boot";
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (text.starts_with("PYTHONPATH=") && !launch.python_folder.empty()) {
      const std::string_view before = text.substr(strlen("PYTHONPATH="));
      if (!before.empty()) StrAppend(&python_path, ":", before);
      continue;
    }
    if (!IsReplaced(text, launch)) environment.emplace_back(text);
  }
  if (!launch.python_folder.empty()) environment.push_back("PYTHONPATH=" + python_path);
  environment.push_back(
      StrCat(kRequestVariable, "=", launch.request.run_folder, "/", kRequestFile));
  if (launch.own_group) {
    environment.insert(environment.end(), kTrackersOff.begin(), kTrackersOff.end());
    environment.emplace_back(kPrivateFilesVariable);
  }
  return environment;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& text : strings) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In the child, between fork and exec: system calls only.
[[noreturn]] void BecomeCommand(const Launch& launch, char** arguments, char** environment,
                                char* private_files, const char* output, int error_pipe) {
  if (launch.own_group) {
    const bool has_own = launch.files && launch.files->Enter(launch.request.run_folder.c_str());
    if (has_own) private_files[sizeof(kPrivateFilesVariable) - 2] = '1';
    setpgid(0, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int null = open("/dev/null", O_RDONLY);
    const int log = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    dup2(null, STDIN_FILENO);
    dup2(log, STDOUT_FILENO);
    dup2(log, STDERR_FILENO);
  }
  execvpe(arguments[0], arguments, environment);
  const int error = errno;
  (void)!write(error_pipe, &error, sizeof(error));
  _exit(127);
}

absl::StatusOr<pid_t> Start(const Launch& launch) {
  std::vector<std::string> command = launch.command;
  std::vector<std::string> environment = Environment(launch);
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
    return absl::InvalidArgumentError(
        StrCat("cannot run '", launch.command[0], "': ", strerror(error)));
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
Waited WaitUntil(pid_t child, int handle, absl::Time until, const Launch& launch,
                 std::string& stopped_by) {
  absl::Time next_look = launch.look ? absl::InfinitePast() : absl::InfiniteFuture();
  while (!HasEnded(child)) {
    const absl::Time now = absl::Now();
    if (now >= until || (launch.own_group && interrupted)) return Waited::kTimeIsUp;
    if (now >= next_look) {
      Look look = launch.look();
      next_look = absl::Now() + look.next;
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
  const absl::Time until = absl::Now() + kGrace;
  while (!HasEnded(child)) {
    const absl::Time now = absl::Now();
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
  const int signal = interrupted;
  if (signal != 0 && !launch.own_group && ending.how != Ending::How::kFinished) {
    return {Ending::How::kStopped, status, signal == SIGTERM ? "SIGTERM" : "SIGINT"};
  }
  return waited == Waited::kTimeIsUp ? Ending{Ending::How::kDeadline, 0} : ending;
}

Ending WaitFor(pid_t child, const Launch& launch) {
  // By number: the C library's own declaration is not usable from C++ before glibc 2.37.
  const int handle = static_cast<int>(syscall(SYS_pidfd_open, child, 0));
  const absl::Time until = launch.deadline == absl::InfiniteDuration()
                               ? absl::InfiniteFuture()
                               : absl::Now() + launch.deadline;
  std::string stopped_by;
  const Waited waited = WaitUntil(child, handle, until, launch, stopped_by);
  if (waited != Waited::kEnded) End(child, handle, launch.own_group ? -child : child);
  // Of an experiment's group nothing may stay behind, whether it ended by itself or not.
  if (launch.own_group) kill(-child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (handle >= 0) close(handle);
  return Judged(launch, waited, EndingOf(status), stopped_by);
}

}  // namespace

absl::StatusOr<Ending> RunCommand(const Launch& launch) {
  DLCHECK_RETURN_IF_ERROR(WriteRunFolder(launch));
  const SignalGuard guard;
  DLCHECK_ASSIGN_OR_RETURN(const pid_t child, Start(launch));
  plain_child = launch.own_group ? 0 : child;
  const Ending ending = WaitFor(child, launch);
  plain_child = 0;
  // On a full disk the ending is known to this process only; the run is no less over.
  WriteEnding(launch.request.run_folder, ending).IgnoreError();
  return ending;
}

bool WasInterrupted() { return interrupted != 0; }

}  // namespace dlcheck
