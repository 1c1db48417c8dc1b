#include "checks/observe/preload/batches/text_across_batch.h"

#include <algorithm>
#include <utility>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr size_t kStepsOfTexts = 32;
constexpr int64_t kFewestPairs = 1024, kMostDifferent = 4096;  // of each kind; tokens
constexpr int64_t kFewestTexts = 4, kFewestTimesOfText = 4, kMostOfTexts = 1 << 16;
constexpr double kLeastTold = 0.3, kLessTold = 0.7;  // nats along the batch; share of it in time
constexpr double kMostEqualNeighbors =
    0.1;  // share of equal neighbors, above that of rows drawn apart

double Entropy(const at::Tensor& counts) {
  const at::Tensor share = counts.to(at::kDouble) / counts.sum().item<double>();
  return -(share * share.log()).sum().item<double>();
}

at::Tensor Occurring(const at::Tensor& whole) {
  const at::Tensor counts = whole.bincount();
  return counts.masked_select(counts.gt(0));
}

// The mutual information of pairs (n, 2) in nats, without what so few pairs show by chance.
// Source: Miller 1955.
double Told(const at::Tensor& pairs) {
  const int64_t size = pairs.max().item<int64_t>() + 1;
  const at::Tensor joint =
      std::get<2>(at::_unique2(pairs.select(1, 0) * size + pairs.select(1, 1), /*sorted=*/false,
                               /*return_inverse=*/false, /*return_counts=*/true));
  const at::Tensor one = Occurring(pairs.select(1, 0)), other = Occurring(pairs.select(1, 1));
  const auto cells = static_cast<double>(one.numel() + other.numel() - joint.numel() - 1);
  return Entropy(one) + Entropy(other) - Entropy(joint) +
         cells / (2 * static_cast<double>(pairs.size(0)));
}

double EqualShare(const at::Tensor& pairs) {
  return pairs.select(1, 0).eq(pairs.select(1, 1)).to(at::kDouble).mean().item<double>();
}

// Whether the targets are the tokens that follow along this axis.
bool Follow(const at::Tensor& tokens, const at::Tensor& targets, int64_t axis) {
  const int64_t length = tokens.size(axis);
  if (length < kFewestTimesOfText) return false;
  return targets.narrow(axis, 0, length - 1).equal(tokens.narrow(axis, 1, length - 1));
}

// The tokens as (rows, times); undefined where the targets follow along neither axis, or both.
at::Tensor InTime(const at::Tensor& tokens, const at::Tensor& targets) {
  const bool down = Follow(tokens, targets, 0), along = Follow(tokens, targets, 1);
  if (down == along) return {};
  const at::Tensor rows = down ? tokens.t() : tokens;
  const bool fits = rows.size(0) >= kFewestTexts && rows.min().item<int64_t>() >= 0 &&
                    rows.max().item<int64_t>() < kMostDifferent;
  return fits ? rows : at::Tensor();
}

at::Tensor Paired(const at::Tensor& one, const at::Tensor& other) {
  return at::stack({one.reshape({-1}), other.reshape({-1})}, 1);
}

}  // namespace

void TextAcrossBatch::Given(const LossGiven& loss, const std::vector<at::Tensor>& words,
                            ProbeRecorder& recorder) {
  if (!loss.TakesClasses() || words.size() != 1 || !IsAtHand(loss.targets)) return;
  const at::Tensor tokens = words.front().to(at::kLong), targets = loss.targets.detach();
  if (targets.numel() != tokens.numel() || targets.is_floating_point()) return;
  Pairs& pairs = found_[loss.thing];
  if (pairs.is_settled || tokens.numel() > kMostOfTexts) return;
  const at::Tensor rows = InTime(tokens, targets.to(at::kLong).reshape(tokens.sizes()));
  pairs.is_settled = !rows.defined();
  if (pairs.is_settled) return;
  const int64_t count = rows.size(0), times = rows.size(1);
  pairs.kinds[0].push_back(Paired(rows.narrow(1, 0, times - 1), rows.narrow(1, 1, times - 1)));
  pairs.kinds[1].push_back(Paired(rows, rows.roll({times / 2}, {1})));
  pairs.kinds[2].push_back(Paired(rows.narrow(0, 0, count - 1), rows.narrow(0, 1, count - 1)));
  pairs.kinds[3].push_back(Paired(rows, rows.roll({count / 2}, {0})));
  if (++pairs.steps < kStepsOfTexts) return;
  Judge(loss, pairs, recorder);
  pairs = {};
  pairs.is_settled = true;
}

void TextAcrossBatch::Judge(const LossGiven& loss, const Pairs& pairs, ProbeRecorder& recorder) {
  std::array<at::Tensor, 4> all;
  for (size_t i = 0; i < all.size(); ++i) {
    all[i] = at::cat(pairs.kinds[i]);
    if (all[i].size(0) < kFewestPairs) return;
  }
  const double time = std::max(Told(all[0]) - Told(all[1]), 0.0);
  const double across = Told(all[2]) - Told(all[3]);
  if (across < kLeastTold || time >= kLessTold * across) return;
  if (EqualShare(all[2]) > EqualShare(all[3]) + kMostEqualNeighbors) return;
  recorder.clock().Put(Quantity::kTextAcrossBatch, {loss.thing, 0, recorder.Site(CallSite())},
                       across, time);
}

}  // namespace dlcheck
