// What the supervisor does with signals while a command runs.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <array>

namespace dlcheck {

// Notes SIGINT, SIGTERM and SIGHUP, and passes on to the plain command what was sent to us alone: a
// terminal sends its signals to the command itself. SIGQUIT ends the command, not us. What was
// there before is restored at the end.
class SignalGuard {
 public:
  SignalGuard();
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  // The command that signals are passed on to; 0: none.
  static void PassOnTo(pid_t child);
};

// Holds those signals back for as long as it lives: one that came between the start of a command
// and PassOnTo would reach nobody.
class HeldSignals {
 public:
  HeldSignals();
  ~HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;

 private:
  sigset_t before_;
};

// The last signal that reached this process while a command ran; 0: none did.
int LastSignal();

// "SIGHUP" of 1; for those that SignalGuard notes.
const char* SignalName(int signal);

// Notes what every signal does now, for RestoreSignals. Called first in main, before anything of
// ours changes one.
void RememberSignals();

// In a child, between fork and exec: what every signal did then, and an empty mask where it was
// empty.
void RestoreSignals();

}  // namespace dlcheck
