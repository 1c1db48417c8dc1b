#include "checks/observe/preload/idle_units.h"

#include <string>
#include <string_view>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr int64_t kLatestStep = 1 << 16;
constexpr int kMostPerStep = 64;
constexpr int64_t kFewestRowsOfBatch = 32;
constexpr double kLeastShare = 0.5;
constexpr int64_t kFewestUnits = 8;   // of a tanh or sigmoid: an output of few may be sure of all
constexpr double kNearLimit = 0.005;  // of the way from one limit to the other

// "relu", "tanh" or "sigmoid"; empty of another operation.
std::string_view KindOf(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  if (name == "aten::relu" || name == "aten::relu_") return "relu";
  if (name == "aten::tanh" || name == "aten::tanh_") return "tanh";
  return name == "aten::sigmoid" || name == "aten::sigmoid_" ? "sigmoid" : "";
}

// Where no gradient gets through.
at::Tensor IdleOf(const at::Tensor& result, std::string_view kind) {
  if (kind == "relu") return result.le(0);
  const double least = kind == "tanh" ? -1 : 0, margin = kNearLimit * (1 - least);
  return result.lt(least + margin).logical_or(result.gt(1 - margin));
}

// The axis of the units of an activation behind a layer, by what the layer is; -1 where it is not
// known.
int64_t AxisOfUnits(const at::Tensor& result) {
  const std::shared_ptr<torch::autograd::Node>& node = result.grad_fn();
  if (node == nullptr || node->num_outputs() == 0 || node->next_edge(0).function == nullptr) {
    return -1;
  }
  const std::string before = node->next_edge(0).function->name();
  if (before == "ConvolutionBackward0" || before == "NativeBatchNormBackward0") return 1;
  const bool is_row = before == "AddmmBackward0" || before == "NativeLayerNormBackward0";
  return is_row ? result.dim() - 1 : -1;
}

}  // namespace

bool IdleUnits::IsActivation(const at::RecordFunction& function) {
  return !KindOf(function).empty();
}

void IdleUnits::Returned(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const ProbeClock& clock = recorder.clock();
  if (step_ != clock.step() || micro_step_ != clock.micro_step()) number_ = 0;
  step_ = clock.step();
  micro_step_ = clock.micro_step();
  const int number = number_++;
  if (step_ >= kLatestStep || (step_ & (step_ - 1)) != 0 || micro_step_ > 0) return;
  if (number >= kMostPerStep || function.outputs().empty() || !function.outputs()[0].isTensor()) {
    return;
  }
  const at::Tensor& result = function.outputs()[0].toTensor();
  if (!result.defined() || !result.device().is_cpu() || result.dim() < 2) return;
  const int64_t axis = AxisOfUnits(result);
  if (axis < 0) return;
  const std::string_view kind = KindOf(function);
  const int64_t units = result.size(axis);
  if (units == 0 || (kind != "relu" && units < kFewestUnits)) return;
  if (result.numel() / units < kFewestRowsOfBatch) return;
  const at::Tensor rows = IdleOf(result.detach(), kind).movedim(axis, -1).reshape({-1, units});
  const double share = rows.all(0).to(at::kDouble).mean().item<double>();
  if (share < kLeastShare) return;
  const uint32_t thing = recorder.clock().writer().Thing("operation", number, kind);
  recorder.clock().Put(kind == "relu" ? Quantity::kZeroUnits : Quantity::kSaturatedUnits,
                       {thing, 0, recorder.Site(CallSite())}, share, static_cast<double>(units));
}

}  // namespace dlcheck
