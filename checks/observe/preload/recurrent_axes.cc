#include "checks/observe/preload/recurrent_axes.h"

#include <algorithm>
#include <string_view>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr size_t kMostRecurrentLayers = 64;  // of a step

// One target for each sample, as a row or as a column.
bool IsOneEach(const at::Tensor& outputs, const at::Tensor& targets) {
  if (outputs.dim() == 0 || targets.dim() == 0 || targets.dim() > 2) return false;
  return outputs.size(0) == targets.size(0) && targets.numel() == targets.size(0);
}

}  // namespace

bool RecurrentAxes::IsRecurrent(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name == "aten::gru" || name == "aten::lstm" || name == "aten::rnn_tanh" ||
         name == "aten::rnn_relu";
}

// (input, state, weights, has_biases, layers, dropout, train, bidirectional, batch_first). The
// other overload, of packed sequences, has one more tensor before the weights.
void RecurrentAxes::Saw(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const auto inputs = function.inputs();
  if (inputs.size() < 9 || !inputs[0].isTensor() || !inputs[2].isTensorList() ||
      !inputs[3].isBool() || !inputs[inputs.size() - 1].isBool()) {
    return;
  }
  const at::Tensor& given = inputs[0].toTensor();
  const auto weights = inputs[2].toTensorVector();
  if (!given.defined() || given.dim() != 3 || weights.empty()) return;
  if (recorder.clock().step() != step_) StepEnded(recorder);
  const at::TensorImpl* key = weights.front().unsafeGetTensorImpl();
  if (sizes_.size() >= kMostRecurrentLayers && sizes_.count(key) == 0) return;
  const int64_t of_batch = inputs[inputs.size() - 1].toBool() ? 0 : 1;
  const ProbeModels::Parameter* weight = recorder.models().Find(weights.front());
  const uint32_t known = weight == nullptr ? 0 : weight->module_thing;
  const std::string_view name(function.name() + sizeof("aten::") - 1);
  Sizes& sizes = sizes_[key];
  sizes.batch = given.size(of_batch);
  sizes.time = given.size(1 - of_batch);
  sizes.layer = known != 0 ? known : recorder.clock().writer().Thing("operation", 0, name);
  sizes.site = CallSite();
  ++sizes.calls;
}

void RecurrentAxes::LossGiven(const at::Tensor& outputs, const at::Tensor& targets,
                              ProbeRecorder& recorder) {
  const ProbeClock& clock = recorder.clock();
  if (!clock.sampled() || clock.step() != step_ || !IsOneEach(outputs, targets)) return;
  const int64_t samples = targets.size(0);
  // There is a target for each position of a batch.
  const bool is_flattened = std::any_of(sizes_.begin(), sizes_.end(), [samples](const auto& entry) {
    return entry.second.batch * entry.second.time == samples;
  });
  if (is_flattened) return;
  losses_ += samples > 1;
  for (auto& [unused, sizes] : sizes_) {
    // Where the batch is a multiple of the samples, each sample has several sequences.
    if (sizes.time == samples && sizes.batch != 1 && sizes.batch % samples != 0) ++sizes.losses;
  }
}

// Of losses that a program computes sequence by sequence, there are more than calls, or others for
// shorter sequences. Written as the next step that is looked at begins: two more follow before the
// check speaks.
void RecurrentAxes::StepEnded(ProbeRecorder& recorder) {
  for (const auto& [unused, sizes] : sizes_) {
    if (sizes.losses == 0 || sizes.losses != sizes.calls || sizes.losses != losses_) continue;
    recorder.clock().Put(Quantity::kSwappedBatchAxis, {sizes.layer, 0, recorder.Site(sizes.site)},
                         static_cast<double>(sizes.time), static_cast<double>(sizes.batch));
  }
  step_ = recorder.clock().step();
  losses_ = 0;
  sizes_.clear();
}

}  // namespace dlcheck
