#include "checks/observe/preload/losses/target_scales.h"

#include <algorithm>
#include <cmath>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr double kFewestTrainedTargets = 256, kFewestEvaluatedTargets = 16;
constexpr int64_t kMostTargetsOfBatch = 1 << 16;
constexpr int kMostToldScales = 8;

double SpreadOf(double count, double sum, double squares) {
  const double mean = sum / count;
  return std::sqrt(std::max(squares / count - mean * mean, 0.0));
}

}  // namespace

// A count of 0 for targets that are no numbers, or cannot be read.
TargetScales::Sums TargetScales::SumsOf(const LossGiven& loss) {
  const at::Tensor& targets = loss.targets;
  if (!loss.TakesNumbers() || !IsAtHand(targets) || targets.numel() == 0) return {};
  const at::Tensor flat = targets.detach().reshape({-1});
  const at::Tensor values =
      flat.narrow(0, 0, std::min(flat.numel(), kMostTargetsOfBatch)).to(at::kDouble);
  const Sums sums = {static_cast<double>(values.numel()), values.sum().item<double>(),
                     values.square().sum().item<double>()};
  return std::isfinite(sums.squares) ? sums : Sums{};
}

void TargetScales::Trained(const LossGiven& loss) {
  const Sums sums = SumsOf(loss);
  if (sums.count == 0) return;
  Sums& all = trained_[loss.thing];
  all = {all.count + sums.count, all.sum + sums.sum, all.squares + sums.squares};
}

void TargetScales::Evaluated(const LossGiven& loss, ProbeRecorder& recorder) {
  const auto found = trained_.find(loss.thing);
  if (found == trained_.end() || found->second.count < kFewestTrainedTargets) return;
  const Sums sums = told_ < kMostToldScales ? SumsOf(loss) : Sums{};
  if (sums.count < kFewestEvaluatedTargets) return;
  const Sums& before = found->second;
  const double spread = SpreadOf(before.count, before.sum, before.squares);
  const double now = SpreadOf(sums.count, sums.sum, sums.squares);
  if (!(spread > 0) || !(now > 0)) return;
  ++told_;
  recorder.clock().Put(Quantity::kEvaluationTargets, {loss.thing, 0, recorder.Site(CallSite())},
                       now / spread, (sums.sum / sums.count - before.sum / before.count) / spread);
}

}  // namespace dlcheck
