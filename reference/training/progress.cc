#include "reference/training/progress.h"

#include <unistd.h>

#include <cinttypes>
#include <cstdio>

namespace dlcheck::reference {
namespace {

constexpr int64_t kStepsBetweenLines = 20;

}  // namespace

Progress::Progress(int64_t steps) : steps_(steps), on_terminal_(isatty(STDERR_FILENO) == 1) {}

void Progress::ClearLine() {
  if (on_terminal_) std::fprintf(stderr, "\r%60s\r", "");
}

void Progress::Stepped(int64_t step, const std::function<double()>& loss) {
  if (!on_terminal_ || step % kStepsBetweenLines != 0) return;
  std::fprintf(stderr, "\rstep %" PRId64 " of %" PRId64 "  loss %-12.4g", step, steps_, loss());
}

void Progress::Evaluated(int64_t step, double loss, double accuracy) {
  ClearLine();
  std::printf("step %" PRId64 "  val loss %.4f  val accuracy %.4f\n", step, loss, accuracy);
  std::fflush(stdout);
}

void Progress::Finished(double loss, double accuracy) {
  ClearLine();
  std::printf("finished %" PRId64 " steps  val loss %.4f  val accuracy %.4f\n", steps_, loss,
              accuracy);
  std::fflush(stdout);
}

}  // namespace dlcheck::reference
