#include "checks/observe/preload/softmax_axes.h"

#include <string_view>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/probe/loss_inputs.h"

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
  if (scores.dim() < 2 || !scores.requires_grad() || (axis != 0 && axis != -scores.dim())) return;
  // Attention along the first axis may run over time; of probabilities, nothing takes logarithms.
  if (scores.dim() > 2 && name != "aten::log_softmax") return;
  // As many scores as samples may be pairs, which contrastive losses compare both ways.
  const int64_t rows = scores.size(0), classes = scores.size(-1);
  if (rows < 2 || classes < 1 || rows == classes) return;
  last_ = {rows, scores.numel() / classes, classes};
  site_ = CallSite();
}

void SoftmaxAxes::LossGiven(const at::Tensor& outputs, ProbeRecorder& recorder) {
  const Last last = std::exchange(last_, {});
  if (last.rows == 0 || outputs.size(0) != last.samples || outputs.size(1) != last.classes) return;
  // One weight for each sample may belong to attention over all of them.
  if (last.classes == 1 && MakerOf(outputs) != "softmax") return;
  ProbeClock& clock = recorder.clock();
  const uint32_t thing = clock.writer().Thing("operation", 0, "softmax");
  clock.Put(Quantity::kSoftmaxOverSamples, {thing, 0, recorder.Site(site_)},
            static_cast<double>(last.rows), 1);
}

}  // namespace dlcheck
