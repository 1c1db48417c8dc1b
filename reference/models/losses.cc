#include "reference/models/losses.h"

#include <algorithm>
#include <limits>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;
using Kind = LossOptions::Kind;
using Unit = LossOptions::Unit;

// Flat operands of the elementary losses: outputs (R, C); targets (R), or (R, C) of dense kinds.
struct Operands {
  Tensor outputs, targets;
};

bool TakesClasses(const LossOptions& options) {
  return options.kind == Kind::kCrossEntropy || options.kind == Kind::kFocal ||
         options.kind == Kind::kNtXent;
}

// Whether ATen has a mean of its own.
bool HasOwnMean(const LossOptions& options) {
  return options.kind != Kind::kFocal && options.z_loss == 0;
}

void NeedSense(const LossOptions& options) {
  const bool is_changed = options.label_smoothing != 0 || options.z_loss != 0;
  if (options.kind != Kind::kCrossEntropy && is_changed) {
    throw UsageError("label smoothing and z-loss are of cross-entropy alone");
  }
  if (!TakesClasses(options) && options.class_weights.defined()) {
    throw UsageError("class weights are of cross-entropy and focal alone");
  }
}

bool BySample(const LossOptions& options) {
  return options.unit == Unit::kSample &&
         options.deviation != LossDeviation::kTokensInsteadOfSamples;
}

double Smoothing(const LossOptions& options) {
  return options.deviation == LossDeviation::kSmoothingSwapped ? 1 - options.label_smoothing
                                                               : options.label_smoothing;
}

Operands Flatten(const LossOptions& options, const Tensor& outputs, const Tensor& targets) {
  const bool narrow = outputs.element_size() < 4;
  const Tensor wide = ScoresOf(options, narrow ? outputs.to(torch::kFloat32) : outputs);
  const int64_t classes = wide.size(-1);
  const Tensor flat = wide.dim() > 2 ? wide.reshape({-1, classes}) : wide;
  if (TakesClasses(options) && !targets.is_floating_point()) return {flat, targets.reshape({-1})};
  const bool numbers = !targets.is_floating_point();
  const Tensor dense = numbers ? torch::one_hot(targets.reshape({-1}), classes) : targets;
  return {flat, dense.to(flat.scalar_type()).reshape_as(flat)};
}

// The loss of all rows together, or of each row or element, by ATen's reduction.
Tensor Reduced(const LossOptions& options, const Operands& operands, at::Reduction::Reduction how) {
  const auto& [outputs, targets] = operands;
  switch (options.kind) {
    case Kind::kCrossEntropy:
    case Kind::kNtXent:
      return torch::cross_entropy_loss(outputs, targets, options.class_weights, how,
                                       options.ignore_index, Smoothing(options));
    case Kind::kBce:
      return torch::binary_cross_entropy_with_logits(outputs, targets, {}, {}, how);
    case Kind::kMse:
      return torch::mse_loss(outputs, targets, how);
    case Kind::kHuber:
      return torch::huber_loss(outputs, targets, how, options.huber_delta);
    case Kind::kFocal:
      break;
  }
  throw UsageError("a loss that this version does not know");
}

// What each class number weighs in the denominator, in the shape of `targets`, float64. Rows of
// probabilities weigh 1.
Tensor WeightsOf(const LossOptions& options, const Tensor& targets) {
  if (targets.is_floating_point()) {
    return torch::ones(targets.sizes().slice(0, targets.dim() - 1),
                       targets.options().dtype(torch::kFloat64));
  }
  if (options.deviation == LossDeviation::kIgnoredCounted) {
    return torch::ones_like(targets, torch::kFloat64);
  }
  const Tensor counted = targets.ne(options.ignore_index);
  if (!options.class_weights.defined()) return counted.to(torch::kFloat64);
  const Tensor known = targets.masked_fill(counted.logical_not(), 0).reshape({-1});
  const Tensor weights = options.class_weights.detach().index_select(0, known);
  return weights.to(torch::kFloat64).view_as(targets) * counted;
}

// (B): the denominator of each sample's own mean.
Tensor SampleWeights(const LossOptions& options, const Tensor& targets, int64_t classes) {
  const int64_t samples = targets.size(0);
  if (TakesClasses(options)) return WeightsOf(options, targets).reshape({samples, -1}).sum(1);
  const int64_t numbers = targets.numel() / std::max<int64_t>(samples, 1);
  const int64_t elements = targets.is_floating_point() ? numbers : numbers * classes;
  return torch::full({samples}, elements, targets.options().dtype(torch::kFloat64));
}

// The loss of each row, which ATen does not have: of focal, or of cross-entropy with z-loss.
Tensor OwnRows(const LossOptions& options, const Operands& operands) {
  const auto& [outputs, targets] = operands;
  const Tensor weights = WeightsOf(options, targets).to(outputs.scalar_type());
  if (options.kind == Kind::kFocal) {
    const Tensor known = targets.masked_fill(targets.eq(options.ignore_index), 0).unsqueeze(1);
    const Tensor log_p = outputs.log_softmax(1).gather(1, known).squeeze(1);
    const bool is_inverted = options.deviation == LossDeviation::kFocusOnSure;
    const Tensor base = is_inverted ? log_p.exp() : 1 - log_p.exp();
    return base.pow(options.focal_gamma) * -log_p * weights;
  }
  const Tensor z = outputs.logsumexp(1);
  const Tensor extra = options.deviation == LossDeviation::kUnsquaredZ ? z : z.square();
  return Reduced(options, operands, at::Reduction::None) + options.z_loss * extra * weights;
}

Tensor Rows(const LossOptions& options, const Operands& operands) {
  if (HasOwnMean(options)) return Reduced(options, operands, at::Reduction::None);
  return OwnRows(options, operands);
}

// A sample without a target adds a sum of zero over a weight that stands in for its own.
Tensor SumBySample(const LossOptions& options, const Tensor& outputs, const Tensor& targets) {
  const Tensor losses = Rows(options, Flatten(options, outputs, targets));
  const Tensor sums = losses.reshape({targets.size(0), -1}).sum(1);
  const Tensor weights = SampleWeights(options, targets, outputs.size(-1));
  const Tensor safe = weights.masked_fill(weights.gt(0).logical_not(), 1).to(sums.scalar_type());
  return (sums / safe).sum();
}

}  // namespace

Tensor ScoresOf(const LossOptions& options, const Tensor& outputs) {
  if (options.kind != Kind::kNtXent) return outputs;
  const Tensor length = outputs.norm(2, -1, /*keepdim=*/true).clamp_min(1e-12);
  const Tensor unit = outputs / length;
  const Tensor scores = unit.matmul(unit.t()) / options.temperature;
  if (options.deviation == LossDeviation::kLikeItself) return scores;
  const Tensor itself = torch::eye(scores.size(0), scores.options().dtype(torch::kBool));
  return scores.masked_fill(itself, -std::numeric_limits<double>::infinity());
}

Tensor SummedLoss(const LossOptions& options, const Tensor& outputs, const Tensor& targets) {
  NeedSense(options);
  if (BySample(options)) return SumBySample(options, outputs, targets);
  const Operands operands = Flatten(options, outputs, targets);
  if (!HasOwnMean(options)) return OwnRows(options, operands).sum();
  return Reduced(options, operands, at::Reduction::Sum);
}

LossSum SumOfLoss(const LossOptions& options, const Tensor& outputs, const Tensor& targets) {
  return {SummedLoss(options, outputs, targets), CountOf(options, targets, outputs.size(-1))};
}

double CountOf(const LossOptions& options, const Tensor& targets, int64_t classes) {
  const Tensor weights = SampleWeights(options, targets, classes);
  return (BySample(options) ? weights.gt(0) : weights).sum().item<double>();
}

Tensor MeanLoss(const LossOptions& options, const Tensor& outputs, const Tensor& targets) {
  const bool is_counted = options.deviation == LossDeviation::kIgnoredCounted;
  if (BySample(options) || is_counted || !HasOwnMean(options)) {
    const LossSum loss = SumOfLoss(options, outputs, targets);
    return loss.sum / loss.count;
  }
  NeedSense(options);
  return Reduced(options, Flatten(options, outputs, targets), at::Reduction::Mean);
}

}  // namespace dlcheck::reference
