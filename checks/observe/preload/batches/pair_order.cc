#include "checks/observe/preload/batches/pair_order.h"

#include <cmath>
#include <utility>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr int64_t kFewestRowsInOrder = 16, kMostRowsInOrder = 1024;
constexpr int64_t kMostEntriesOfPairs = 1 << 20;  // of all inputs
constexpr size_t kStepsOfPairOrder = 3, kMostPasses = 16;
// Distances of views and of other samples, as shares of that of two rows.
constexpr double kAlikeShare = 0.9, kUnlikeShare = 0.95;
constexpr double kCertainOrder = 6;  // standard errors

// The partner of each row in halves for pairs that alternate, and the reverse; undefined for
// others.
at::Tensor OtherOrder(const at::Tensor& targets) {
  const int64_t count = targets.size(0);
  const at::Tensor place = at::arange(count, at::kLong);
  const at::Tensor halves = (place + count / 2).remainder(count);
  const at::Tensor alternating = place.bitwise_xor(1);
  if (targets.equal(halves)) return alternating;
  return targets.equal(alternating) ? halves : at::Tensor();
}

double MeanOf(const at::Tensor& values) { return values.mean().item<double>(); }

bool TakesOtherOrder(const at::Tensor& named, const at::Tensor& other, const at::Tensor& any_two) {
  if (!std::isfinite(MeanOf(named + other + any_two)) || MeanOf(any_two) == 0) return false;
  const at::Tensor nearer = any_two - other;
  const double error = nearer.std().item<double>() / std::sqrt(static_cast<double>(nearer.numel()));
  if (!(MeanOf(nearer) > kCertainOrder * error)) return false;
  const double bound = kAlikeShare * MeanOf(any_two);
  return MeanOf(other) < bound && bound < MeanOf(named) * kAlikeShare / kUnlikeShare;
}

}  // namespace

void PairOrder::Enters(const at::Tensor& input, ProbeRecorder& recorder) {
  const int64_t step = recorder.clock().step();
  if (std::exchange(step_, step) != step) inputs_.clear();
  if (inputs_.size() < kMostPasses && input.is_floating_point()) {
    inputs_.emplace_back(input.getIntrusivePtr());
  }
}

at::Tensor PairOrder::RowsOf(int64_t count) const {
  at::Tensor found;
  for (const Weak& weak : inputs_) {
    const auto held = weak.lock();
    if (!held) continue;
    const at::Tensor input(held);
    if (input.dim() < 2 || input.size(0) != count) continue;
    if (found.defined()) return {};
    found = input;
  }
  return found;
}

void PairOrder::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  if (!loss.HasOneClassEach() || loss.outputs.size(0) != loss.outputs.size(1)) return;
  const int64_t count = loss.outputs.size(0);
  if (count % 2 != 0 || count < kFewestRowsInOrder || count > kMostRowsInOrder) return;
  auto& found = found_[loss.thing];
  if (found[0].size() >= kStepsOfPairOrder) return;
  const at::Tensor rows = RowsOf(count);
  if (!IsAtHand(rows) || rows.numel() > kMostEntriesOfPairs) return;
  const at::Tensor targets = loss.targets.detach().to(at::kLong), other = OtherOrder(targets);
  if (!other.defined()) return;
  const at::Tensor values = rows.detach().reshape({count, -1}).to(at::kDouble);
  const at::Tensor orders[] = {targets, other, at::arange(count, at::kLong).roll({2}, {0})};
  for (size_t i = 0; i < found.size(); ++i) {
    found[i].push_back((values - values.index_select(0, orders[i])).norm(2, {1}));
  }
  if (found[0].size() < kStepsOfPairOrder) return;
  if (!TakesOtherOrder(at::cat(found[0]), at::cat(found[1]), at::cat(found[2]))) return;
  recorder.clock().Put(Quantity::kUnlikePairs, {loss.thing, 0, recorder.Site(CallSite())},
                       static_cast<double>(count), 1);
}

}  // namespace dlcheck
