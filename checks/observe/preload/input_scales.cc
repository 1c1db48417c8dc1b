#include "checks/observe/preload/input_scales.h"

#include <algorithm>
#include <cmath>

namespace dlcheck {
namespace {

constexpr double kFewestNumbers = 256;
constexpr int64_t kMostNumbers = 1 << 16;  // of a batch
constexpr int kFirstBatches = 16;          // after which those of sampled steps alone count
constexpr size_t kMostKinds = 64;          // of inputs

std::pair<double, double> MomentsOf(double count, double total, double squares) {
  const double mean = total / count;
  return {mean, std::sqrt(std::max(squares / count - mean * mean, 0.0))};
}

}  // namespace

std::optional<std::pair<InputScales::Key, InputScales::Sums>> InputScales::SumsOf(
    const at::Tensor& input, ProbeRecorder& recorder) {
  if (!input.defined() || !input.device().is_cpu() || input.layout() != at::kStrided ||
      !input.is_floating_point() || input.dim() < 2 || input.numel() == 0) {
    return std::nullopt;
  }
  const at::Tensor flat = input.detach().reshape({-1});
  const at::Tensor values = flat.narrow(0, 0, std::min(flat.numel(), kMostNumbers)).to(at::kDouble);
  const Sums sums = {static_cast<double>(values.numel()), values.sum().item<double>(),
                     values.square().sum().item<double>()};
  if (!std::isfinite(sums.squares)) return std::nullopt;
  return std::pair(Key{recorder.models().model_thing(), input.dim(), input.size(1)}, sums);
}

void InputScales::Trained(const at::Tensor& input, ProbeRecorder& recorder) {
  if (++batches_ > kFirstBatches && !recorder.clock().takes_digest()) return;
  const auto found = SumsOf(input, recorder);
  if (!found || (trained_.size() >= kMostKinds && trained_.count(found->first) == 0)) return;
  Sums& sums = trained_[found->first];
  sums.count += found->second.count;
  sums.total += found->second.total;
  sums.squares += found->second.squares;
}

void InputScales::Evaluated(const at::Tensor& input, const Probe::Site& site,
                            ProbeRecorder& recorder) {
  const auto found = SumsOf(input, recorder);
  if (!found || found->second.count < kFewestNumbers) return;
  const auto before = trained_.find(found->first);
  if (before == trained_.end() || before->second.count < kFewestNumbers) return;
  const auto [mean, spread] =
      MomentsOf(before->second.count, before->second.total, before->second.squares);
  const auto [mean_now, spread_now] =
      MomentsOf(found->second.count, found->second.total, found->second.squares);
  if (spread <= 0 || spread_now <= 0) return;
  const uint32_t at = recorder.clock().writer().Site(site.file, site.line, site.function);
  recorder.clock().Put(Quantity::kEvaluationScale, {recorder.models().model_thing(), 0, at},
                       spread_now / spread, (mean_now - mean) / spread);
}

}  // namespace dlcheck
