#include "checks/observe/preload/weights/frozen_as_made.h"

#include <cmath>
#include <utility>

#include "checks/observe/preload/losses/loss_given.h"

namespace dlcheck {
namespace {

constexpr int64_t kFirstLook = 2, kSecondLook = 32;  // steps
constexpr int64_t kFewestEntriesOfLayer = 256;       // for its spread to say something
constexpr double kNearSpreadOfMade = 0.06;           // of what numbers drawn evenly have
constexpr double kLeastFrozen = 0.5;                 // of the entries of a model

// Whether the entries lie evenly between the bounds within which LibTorch draws them for a linear
// layer or a convolution.
bool IsAsMade(const at::Tensor& weight) {
  if (weight.dim() < 2 || weight.numel() < kFewestEntriesOfLayer || !IsAtHand(weight)) return false;
  if (!weight.is_floating_point()) return false;
  const at::Tensor values = weight.detach().to(at::kDouble);
  const double bound = 1 / std::sqrt(static_cast<double>(weight[0].numel()));
  return values.abs().max().item<double>() <= bound * (1 + 1e-5) &&
         std::abs(values.std().item<double>() * std::sqrt(3) / bound - 1) < kNearSpreadOfMade;
}

}  // namespace

void FrozenAsMade::StepEnds(ProbeRecorder& recorder) {
  const int64_t step = recorder.clock().step();
  if ((step != kFirstLook && step != kSecondLook) || std::exchange(looked_at_, step) == step) {
    return;
  }
  const ProbeModels& models = recorder.models();
  for (int i = 0; i < models.count(); ++i) {
    double whole = 0, frozen = 0;
    bool is_trained = false;
    for (const ModelTree::Tensor& parameter : models.tree(i).parameters) {
      whole += static_cast<double>(parameter.tensor.numel());
      is_trained = is_trained || parameter.tensor.requires_grad();
      if (!parameter.tensor.requires_grad() && IsAsMade(parameter.tensor)) {
        frozen += static_cast<double>(parameter.tensor.numel());
      }
    }
    if (!is_trained || frozen < kLeastFrozen * whole) continue;
    recorder.clock().Put(Quantity::kFrozenAsMade, {models.model_thing(i)}, frozen / whole, frozen);
  }
}

}  // namespace dlcheck
