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
#include "checks/observe/launcher/process_start.h"
#include "checks/observe/launcher/shared_start.h"
#include "checks/observe/launcher/signal_guard.h"
#include "checks/observe/launcher/source_lines.h"
#include "checks/records/line_file.h"
#include "checks/records/trace_writer.h"

namespace dlcheck {
namespace {

constexpr absl::Duration kGrace = absl::Seconds(5);  // from SIGTERM to SIGKILL

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
  pid_t child = launch.shared_start != nullptr ? launch.shared_start->Begin(launch) : 0;
  {
    const HeldSignals held;
    if (child == 0) {
      DLCHECK_ASSIGN_OR_RETURN(child, StartProcess(launch));
    }
    SignalGuard::PassOnTo(launch.own_group ? 0 : child);
  }
  const Ending ending = WaitFor(child, launch);
  SignalGuard::PassOnTo(0);
  WriteSourceLines(launch.request.run_folder);
  return Ended{ending, WriteEnding(launch.request.run_folder, ending)};
}

bool WasInterrupted() { return LastSignal() != 0; }

}  // namespace dlcheck
