#include "reference/training/stop_signal.h"

#include <csignal>

namespace dlcheck::reference {
namespace {

volatile std::sig_atomic_t came = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM};

void Note(int number) {
  came = number;
  std::signal(number, SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
  came = 0;
  for (const int number : kSignals) std::signal(number, Note);
}

StopSignal::~StopSignal() {
  for (const int number : kSignals) std::signal(number, SIG_DFL);
}

int StopSignal::Came() { return came; }

}  // namespace dlcheck::reference
