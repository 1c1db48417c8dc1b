#include "checks/observe/launcher/shared_start.h"

#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "checks/engine/clock.h"
#include "checks/engine/text.h"
#include "checks/observe/launcher/descendants.h"
#include "checks/observe/launcher/process_start.h"
#include "checks/observe/launcher/written_files.h"

namespace dlcheck {
namespace {

constexpr absl::Duration kLook = absl::Milliseconds(200);  // between looks whether to give up
constexpr absl::Duration kForked = absl::Seconds(10);      // that a fork may take

// The next message of a process; empty if there is none in time, or it has ended.
std::string Message(pid_t process, int channel, absl::Duration most) {
  const absl::Duration until = MonotonicNow() + most;
  while (!WasInterrupted() && MonotonicNow() < until) {
    pollfd waiting{channel, POLLIN, 0};
    if (poll(&waiting, 1, static_cast<int>(absl::ToInt64Milliseconds(kLook))) <= 0) {
      if (HasEnded(process)) return "";
      continue;
    }
    std::array<char, 256> buffer{};
    const ssize_t size = read(channel, buffer.data(), buffer.size());
    return size > 0 ? std::string(buffer.data(), static_cast<size_t>(size)) : "";
  }
  return "";
}

}  // namespace

SharedStart::SharedStart(Launch launch, PrivateFiles files)
    : launch_(std::move(launch)), files_(std::move(files)) {}

std::unique_ptr<SharedStart> SharedStart::Beside(const Launch& launch,
                                                 std::vector<std::string> hidden) {
  Launch start = launch;
  start.request.run_folder += "/start";
  PrivateFiles files = PrivateFiles::Plan();
  files.Hide(std::move(hidden));
  return std::unique_ptr<SharedStart>(new SharedStart(std::move(start), std::move(files)));
}

SharedStart::~SharedStart() {
  End();
  files_.Clear(0);
  RemoveTree(launch_.request.run_folder);
}

void SharedStart::End() {
  if (channel_ >= 0) close(std::exchange(channel_, -1));
  if (process_ > 0) {
    KeepDescendant(0);
    kill(-process_, SIGKILL);
    EndChild(std::exchange(process_, 0));
  }
  is_ready_ = false;
}

// Starts the process, and waits until it is where it forks.
bool SharedStart::IsReady(absl::Duration most) {
  if (std::exchange(is_tried_, true)) return is_ready_;
  std::array<int, 2> ends{};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) != 0) return false;
  channel_ = ends[0];
  launch_.channel = ends[1];
  launch_.files = &files_;
  launch_.needs_own_files = true;
  mkdir(launch_.request.run_folder.c_str(), 0700);
  const bool is_written = WriteRunFolder(launch_).ok();
  const absl::StatusOr<pid_t> started =
      is_written ? StartProcess(launch_) : absl::UnavailableError("");
  close(ends[1]);
  process_ = started.value_or(0);
  KeepDescendant(process_);
  // Of a shell that starts Python, the process that waits is not the one that would be waited for.
  is_ready_ = process_ > 0 && Message(process_, channel_, most) == StrCat("ready ", process_) &&
              files_.AreUntouched();
  if (!is_ready_) End();
  return is_ready_;
}

pid_t SharedStart::Begin(const Launch& launch) {
  if (!IsReady(launch.deadline)) return 0;
  const pid_t holder = StartHolder(launch);
  if (holder == 0) return 0;
  const std::string message = StrCat(holder, std::string(1, '\0'), launch.request.run_folder);
  const bool is_sent = send(channel_, message.data(), message.size(), MSG_NOSIGNAL) ==
                       static_cast<ssize_t>(message.size());
  const std::string answer = is_sent ? Message(process_, channel_, kForked) : "";
  EndChild(holder);
  int process = 0;
  if (absl::SimpleAtoi(answer, &process)) return process;
  End();             // what did not work once is not tried again
  EndDescendants();  // a fork that was late would write into the same folder
  return 0;
}

}  // namespace dlcheck
