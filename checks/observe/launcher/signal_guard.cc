#include "checks/observe/launcher/signal_guard.h"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace dlcheck {
namespace {

volatile sig_atomic_t last_signal = 0;
volatile pid_t plain_child = 0;

constexpr std::array<std::pair<int, const char*>, 3> kNoted{
    {{SIGINT, "SIGINT"}, {SIGTERM, "SIGTERM"}, {SIGHUP, "SIGHUP"}}};

struct Dispositions {
  std::array<struct sigaction, NSIG> actions{};
  std::array<bool, NSIG> known{};
  sigset_t mask{};
  bool remembered = false;
};
Dispositions at_start;

// The kernel's own signals, as of a terminal, reach the command, too.
void OnSignal(int signal, siginfo_t* info, void*) {
  last_signal = signal;
  const bool was_sent = info != nullptr && info->si_code <= 0;
  const int error = errno;
  if (was_sent && plain_child > 0) kill(plain_child, signal);
  errno = error;
}

}  // namespace

SignalGuard::SignalGuard() {
  RememberSignals();
  struct sigaction action = {};
  action.sa_sigaction = OnSignal;
  action.sa_flags = SA_SIGINFO;
  for (const auto& [signal, name] : kNoted) {
    // What was ignored, as under nohup, stays so.
    const auto number = static_cast<size_t>(signal);
    const bool is_ignored = at_start.actions[number].sa_handler == SIG_IGN;
    if (!is_ignored) sigaction(signal, &action, nullptr);
  }
  struct sigaction ignore = {};
  ignore.sa_handler = SIG_IGN;
  sigaction(SIGQUIT, &ignore, nullptr);
}

SignalGuard::~SignalGuard() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    sigaction(signal, &at_start.actions[static_cast<size_t>(signal)], nullptr);
  }
}

void SignalGuard::PassOnTo(pid_t child) { plain_child = child; }

HeldSignals::HeldSignals() {
  sigset_t noted;
  sigemptyset(&noted);
  for (const auto& [signal, name] : kNoted) sigaddset(&noted, signal);
  sigprocmask(SIG_BLOCK, &noted, &before_);
}

HeldSignals::~HeldSignals() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

int LastSignal() { return last_signal; }

const char* SignalName(int signal) {
  for (const auto& [number, name] : kNoted) {
    if (number == signal) return name;
  }
  return "a signal";
}

void RememberSignals() {
  if (at_start.remembered) return;
  for (int signal = 1; signal < NSIG; ++signal) {
    const auto number = static_cast<size_t>(signal);
    at_start.known[number] = sigaction(signal, nullptr, &at_start.actions[number]) == 0;
  }
  sigprocmask(SIG_SETMASK, nullptr, &at_start.mask);
  at_start.remembered = true;
}

void RestoreSignals() {
  for (int signal = 1; signal < NSIG; ++signal) {
    const auto number = static_cast<size_t>(signal);
    if (at_start.known[number]) sigaction(signal, &at_start.actions[number], nullptr);
  }
  sigprocmask(SIG_SETMASK, &at_start.mask, nullptr);
}

}  // namespace dlcheck
