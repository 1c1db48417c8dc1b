#include "reference/training/progress.h"

#include <unistd.h>

#include <cinttypes>
#include <cmath>
#include <cstdio>

namespace dlcheck::reference {
namespace {

constexpr int64_t kStepsBetweenLines = 20;

// Without the sign that printf shows of a NaN, which means nothing.
double Unsigned(double number) { return std::isnan(number) ? std::fabs(number) : number; }

}  // namespace

std::string ScoresText(const char* split, double loss, double accuracy) {
  char text[128];
  const int length = std::snprintf(text, sizeof(text), "%s loss %.4f", split, Unsigned(loss));
  if (!std::isnan(accuracy)) {
    std::snprintf(text + length, sizeof(text) - static_cast<size_t>(length), "  %s accuracy %.4f",
                  split, accuracy);
  }
  return text;
}

Progress::Progress(int64_t steps, bool is_silent)
    : steps_(steps), is_silent_(is_silent), on_terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::ClearLine() {
  if (on_terminal_) std::fprintf(stderr, "\r%60s\r", "");
}

void Progress::Stepped(int64_t step, const Counters& counters) {
  if (is_silent_ || !on_terminal_ || step % kStepsBetweenLines != 0) return;
  std::fprintf(stderr, "\rstep %" PRId64 " of %" PRId64, step, steps_);
  if (counters.skipped > 0) std::fprintf(stderr, "  left out %" PRId64, counters.skipped);
}

void Progress::Evaluated(int64_t step, double loss, double accuracy) {
  if (is_silent_) return;
  ClearLine();
  std::printf("step %" PRId64 "  %s\n", step, ScoresText("val", loss, accuracy).c_str());
  std::fflush(stdout);
}

void Progress::Finished(const Counters& counters, double loss, double accuracy) {
  if (is_silent_) return;
  ClearLine();
  std::printf("finished %" PRId64 " steps  %s\n", counters.step,
              ScoresText("val", loss, accuracy).c_str());
  if (counters.skipped > 0) {
    std::printf("left out %" PRId64 " steps with gradients that were not finite\n",
                counters.skipped);
  }
  std::fflush(stdout);
}

}  // namespace dlcheck::reference
