#include "checks/observe/preload/batches/own_statistics.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/losses/loss_given.h"

namespace dlcheck {
namespace {

constexpr double kFewestNormalized = 32;  // samples
constexpr int64_t kFewestNormalizedEntries = 2, kMostNormalizedEntries = 4096;
constexpr int kMostNormalizedBatches = 1024;
constexpr double kNearMean = 1e-4, kNearSpread = 0.02;  // a spread over n - 1 is no 1 over n
// Of one mean and spread over all entries, which numbers from a normal distribution have by chance
// in 1 of 10,000 runs: standard errors, and as above.
constexpr double kNearMeanOfAll = 1e-3, kNearSpreadOfAll = 2e-3;
constexpr double kLeastNormalized = 0.9;  // of the entries that vary
constexpr double kEach = 1, kTogether = 2;

// kEach or kTogether, 0 for neither.
double NormalizationOf(double samples, const at::Tensor& sums, const at::Tensor& squares) {
  const at::Tensor means = sums / samples;
  const at::Tensor spreads = (squares / samples - means.square()).clamp_min(0).sqrt();
  const at::Tensor varies = spreads.gt(0);
  const double varying = varies.sum().item<double>();
  if (!means.isfinite().all().item<bool>() || varying < kFewestNormalizedEntries) return 0;
  const at::Tensor near =
      means.abs().lt(kNearMean).logical_and((spreads - 1).abs().lt(kNearSpread));
  const double normal = near.logical_and(varies).sum().item<double>();
  if (normal >= kLeastNormalized * varying) return kEach;
  const double count = samples * static_cast<double>(sums.numel());
  const double mean = means.mean().item<double>();
  const double spread =
      std::sqrt(std::max(squares.sum().item<double>() / count - mean * mean, 0.0));
  const bool is_normal =
      std::abs(mean) * std::sqrt(count) < kNearMeanOfAll && std::abs(spread - 1) < kNearSpreadOfAll;
  return is_normal && count >= static_cast<double>(kMostNormalizedEntries) ? kTogether : 0;
}

}  // namespace

void OwnStatistics::Evaluated(const at::Tensor& input) {
  is_whole_ = is_whole_ && ++batches_ <= kMostNormalizedBatches && IsAtHand(input) &&
              input.is_floating_point() && input.dim() >= 2 && input.size(0) > 0;
  const int64_t entries = is_whole_ ? input.numel() / input.size(0) : 0;
  is_whole_ = is_whole_ && entries >= kFewestNormalizedEntries &&
              entries <= kMostNormalizedEntries && (!sums_.defined() || sums_.numel() == entries);
  if (!is_whole_) return;
  const at::Tensor rows = input.detach().reshape({input.size(0), -1}).to(at::kDouble);
  if (!sums_.defined()) {
    sums_ = at::zeros({entries}, at::kDouble);
    squares_ = at::zeros({entries}, at::kDouble);
    site_ = CallSiteOfForward();
  }
  samples_ += static_cast<double>(rows.size(0));
  sums_ = sums_ + rows.sum(0);
  squares_ = squares_ + rows.square().sum(0);
  row_mean_ = std::max(row_mean_, rows.mean(1).abs().max().item<double>());
}

// Where each sample has a mean of zero, it was normalized by itself.
void OwnStatistics::EvaluationEnds(uint32_t model, bool is_new, ProbeRecorder& recorder) {
  const OwnStatistics found = std::exchange(*this, OwnStatistics());
  const bool is_known = is_new && found.is_whole_ && found.sums_.defined();
  if (!is_known || found.samples_ < kFewestNormalized || found.row_mean_ < kNearMean) return;
  const double kind = NormalizationOf(found.samples_, found.sums_, found.squares_);
  if (kind == 0) return;
  recorder.clock().Put(Quantity::kOwnStatistics, {model, 0, recorder.Site(found.site_)}, kind,
                       found.samples_);
}

}  // namespace dlcheck
