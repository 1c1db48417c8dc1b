#include "checks/observe/preload/softmax_axes.h"

#include <string_view>
#include <utility>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {

void SoftmaxAxes::Saw(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  if (name != "aten::softmax" && name != "aten::log_softmax") return;
  const auto inputs = function.inputs();
  if (!at::GradMode::is_enabled() || inputs.size() < 2 || !inputs[0].isTensor() ||
      !inputs[1].isInt() || !inputs[0].toTensor().defined()) {
    return;
  }
  const at::Tensor& scores = inputs[0].toTensor();
  const int64_t axis = inputs[1].toInt();
  if (scores.dim() != 2 || !scores.requires_grad() || (axis != 0 && axis != -2)) return;
  // As many scores as samples may be pairs, which contrastive losses compare both ways.
  if (scores.size(0) < 2 || scores.size(1) < 2 || scores.size(0) == scores.size(1)) return;
  rows_ = scores.size(0);
  site_ = CallSite();
}

void SoftmaxAxes::LossGiven(int64_t samples, ProbeRecorder& recorder) {
  if (std::exchange(rows_, 0) != samples) return;
  ProbeClock& clock = recorder.clock();
  const uint32_t thing = clock.writer().Thing("operation", 0, "softmax");
  clock.Put(Quantity::kSoftmaxOverSamples, {thing, 0, recorder.Site(site_)},
            static_cast<double>(samples), 1);
}

}  // namespace dlcheck
