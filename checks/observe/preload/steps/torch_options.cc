#include "checks/observe/preload/steps/torch_options.h"

#include <string>

namespace dlcheck {
namespace {

at::Float32MatmulPrecision Now() { return at::globalContext().float32MatmulPrecision(); }

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
  if (!at_first_) at_first_ = Now();
}

void TorchOptions::RunEnds(ProbeRecorder& recorder) const {
  if (!at_first_ || *at_first_ == Now()) return;
  ProbeClock& clock = recorder.clock();
  const std::string words = "float32MatmulPrecision(): " + NameOfPrecision(*at_first_) + ", then " +
                            NameOfPrecision(Now());
  clock.Put(Quantity::kChangedPrecision, {clock.writer().Thing("option", 0, words)}, 1);
}

}  // namespace dlcheck
