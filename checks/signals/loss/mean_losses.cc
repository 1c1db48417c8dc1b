#include "checks/signals/loss/mean_losses.h"

#include <cmath>
#include <map>
#include <utility>

#include "checks/signals/run/first_process.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck {
namespace {

constexpr double kEqual = 1e-3;

// The mean of the samples of each step.
std::vector<MeanLosses::Point> ByStep(std::span<const Sample> samples) {
  std::map<int64_t, std::pair<double, int>> sums;
  for (const Sample& sample : samples) {
    auto& [sum, count] = sums[sample.step];
    sum += sample.value;
    ++count;
  }
  std::vector<MeanLosses::Point> points;
  for (const auto& [step, sum] : sums) points.push_back({step, sum.first / sum.second});
  return points;
}

}  // namespace

double MeanLosses::Function::LateMedian() const {
  std::vector<double> late;
  for (size_t i = late_begin(); i < points.size(); ++i) late.push_back(points[i].loss);
  return Median(std::move(late));
}

bool MeanLosses::Function::IsWhole(double first_loss) const {
  return std::abs(first_loss / points.front().loss - 1) < kEqual;
}

absl::StatusOr<MeanLosses> MeanLosses::From(const Run& run) {
  const Trace& trace = run.trace;
  MeanLosses found;
  for (const ThingId thing : trace.ThingsWith(Quantity::kMeanLoss)) {
    const auto means = FirstProcess(trace.Series(Quantity::kMeanLoss, thing));
    const auto initial = trace.Series(Quantity::kInitialLoss, thing);
    const auto constant = trace.Series(Quantity::kConstantLoss, thing);
    if (means.empty() || initial.empty() || constant.empty()) continue;
    const auto pooled = trace.Series(Quantity::kPooledConstantLoss, thing);
    found.functions.push_back({.name = trace.Display(thing),
                               .points = ByStep(means),
                               .constant = (pooled.empty() ? constant : pooled).back().value,
                               .samples = (pooled.empty() ? initial : pooled).back().aux,
                               .classes = constant.back().aux,
                               .targets = means.front().aux});
  }
  if (found.functions.empty()) {
    return absl::NotFoundError("no loss function was observed beside other terms");
  }
  return found;
}

}  // namespace dlcheck
