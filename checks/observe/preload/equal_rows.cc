#include "checks/observe/preload/equal_rows.h"

#include <utility>

namespace dlcheck {
namespace {

constexpr int64_t kFewestEntries = 16;
constexpr size_t kMostSuspects = 64;

bool HasEqualRows(const at::Tensor& weight) {
  return weight.size(0) > 1 && weight.eq(weight.narrow(0, 0, 1)).all().item<bool>();
}

}  // namespace

void EqualRows::Meet(const std::vector<at::Tensor>& parameters) {
  const torch::NoGradGuard no_grad;
  for (const at::Tensor& parameter : parameters) {
    if (suspects_.size() >= kMostSuspects) return;
    if (parameter.dim() < 2 || parameter.numel() < kFewestEntries || !parameter.device().is_cpu() ||
        parameter.layout() != at::kStrided || !parameter.requires_grad() ||
        !HasEqualRows(parameter)) {
      continue;
    }
    suspects_.push_back({parameter, parameter.detach()[0].clone()});
  }
}

void EqualRows::BeginStep(ProbeRecorder& recorder) {
  const int64_t step = recorder.clock().step();
  if (suspects_.empty() || (step != 4 && step != 16 && step != 64)) return;
  if (std::exchange(last_step_, step) == step) return;
  const torch::NoGradGuard no_grad;
  for (const Suspect& suspect : suspects_) {
    const at::Tensor weight = suspect.weight.detach();
    const ProbeModels::Parameter* parameter = recorder.models().Find(suspect.weight);
    if (parameter == nullptr || !HasEqualRows(weight)) continue;
    if (weight[0].eq(suspect.first_row).all().item<bool>()) continue;
    recorder.clock().Put(Quantity::kEqualRows, {parameter->thing},
                         static_cast<double>(weight.size(0)));
  }
}

}  // namespace dlcheck
