#include "checks/signals/optimizer/averaging.h"

#include <algorithm>
#include <set>
#include <string>

#include "absl/strings/numbers.h"
#include "checks/signals/run/first_process.h"
#include "checks/signals/run/not_told.h"

namespace dlcheck {
namespace {

int64_t MovingSteps(const Trace& trace) {
  std::set<int64_t> steps;
  for (const ThingId parameter : trace.ThingsWith(Quantity::kUpdateNorm)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kUpdateNorm, parameter))) {
      if (sample.value > 0) steps.insert(sample.step);
    }
  }
  return static_cast<int64_t>(steps.size());
}

}  // namespace

absl::StatusOr<Averaging> Averaging::From(const Run& run) {
  const Trace& trace = run.trace;
  const std::vector<ThingId> averages = trace.ThingsWith(Quantity::kAverageUpdate);
  if (averages.empty()) return absl::NotFoundError(kNotTold);
  const auto moved = FirstProcess(trace.Series(Quantity::kAverageUpdate, averages.front()));
  const auto distance = FirstProcess(trace.Series(Quantity::kAverageDistance, averages.front()));
  Averaging averaging;
  for (size_t i = 1; i < std::min(moved.size(), distance.size()); ++i) {
    averaging.updates.push_back({moved[i].step, distance[i].value, moved[i].value});
  }
  averaging.moving_steps = MovingSteps(trace);
  double decay = 0;
  if (absl::SimpleAtod(std::string(trace.ProcessAttribute("declared.ema-decay")), &decay)) {
    averaging.decay = decay;
  }
  return averaging;
}

}  // namespace dlcheck
