#include "checks/observe/preload/steps/torch_options.h"

#include <string>

namespace dlcheck {
namespace {

// Nothing where the program set it in several ways that contradict each other: LibTorch refuses to
// answer then.
std::optional<at::Float32MatmulPrecision> Now() {
  try {
    return at::globalContext().float32MatmulPrecision();
  } catch (const c10::Error&) {
    return std::nullopt;
  }
}

std::string NameOfPrecision(at::Float32MatmulPrecision precision) {
  switch (precision) {
    case at::Float32MatmulPrecision::HIGHEST:
      return "highest";
    case at::Float32MatmulPrecision::HIGH:
      return "high";
    case at::Float32MatmulPrecision::MEDIUM:
      return "medium";
  }
  return "";
}

}  // namespace

void TorchOptions::StepEnded() {
  if (!was_asked_) at_first_ = Now();
  was_asked_ = true;
}

void TorchOptions::RunEnds(ProbeRecorder& recorder) const {
  const std::optional<at::Float32MatmulPrecision> now = Now();
  if (!at_first_ || !now || *at_first_ == *now) return;
  ProbeClock& clock = recorder.clock();
  const std::string words = "float32MatmulPrecision(): " + NameOfPrecision(*at_first_) + ", then " +
                            NameOfPrecision(*now);
  clock.Put(Quantity::kChangedPrecision, {clock.writer().Thing("option", 0, words)}, 1);
}

}  // namespace dlcheck
