#include "checks/signals/optimizer/relative_updates.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "checks/signals/run/first_process.h"
#include "checks/signals/run/run_ending.h"

namespace dlcheck {
namespace {

// By step, the sums of squares of what was measured of all parameters of one optimizer.
struct Sums {
  double updates = 0, weights = 0;
};

using StepNorms = std::map<int64_t, double>;

StepNorms NormsOf(const Trace& trace, Quantity quantity, ThingId parameter, ThingId optimizer) {
  StepNorms norms;
  for (const Sample& sample : FirstProcess(trace.Series(quantity, parameter))) {
    if (sample.owner == optimizer) norms[sample.step] = sample.value;
  }
  return norms;
}

void AddParameter(const StepNorms& updates, const StepNorms& weights,
                  std::map<int64_t, Sums>& sums) {
  for (const auto& [step, update] : updates) {
    const auto before = weights.find(step - 1), after = weights.find(step);
    const auto known = before != weights.end() ? before : after;
    if (known == weights.end() || !std::isfinite(update) || !std::isfinite(known->second)) continue;
    sums[step].updates += update * update;
    sums[step].weights += known->second * known->second;
  }
}

}  // namespace

double RelativeUpdates::Optimizer::Largest() const {
  const auto found = std::ranges::max_element(steps, {}, &Step::ratio);
  return found == steps.end() ? 0 : found->ratio;
}

absl::StatusOr<RelativeUpdates> RelativeUpdates::From(const Run& run) {
  const Trace& trace = run.trace;
  std::map<ThingId, std::map<int64_t, Sums>> sums;  // by optimizer
  for (const ThingId parameter : trace.ThingsWith(Quantity::kUpdateNorm)) {
    std::map<ThingId, bool> owners;
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kUpdateNorm, parameter))) {
      owners[sample.owner] = true;
    }
    for (const auto& [owner, seen] : owners) {
      AddParameter(NormsOf(trace, Quantity::kUpdateNorm, parameter, owner),
                   NormsOf(trace, Quantity::kWeightNorm, parameter, owner), sums[owner]);
    }
  }
  RelativeUpdates found;
  for (const auto& [owner, steps] : sums) {
    Optimizer optimizer{.name = owner == 0 ? "the optimizer" : trace.Display(owner), .steps = {}};
    for (const auto& [step, sum] : steps) {
      if (sum.weights > 0) optimizer.steps.push_back({step, std::sqrt(sum.updates / sum.weights)});
    }
    if (!optimizer.steps.empty()) found.optimizers.push_back(std::move(optimizer));
  }
  if (found.optimizers.empty()) {
    return absl::NotFoundError("it was not measured how far steps moved parameters");
  }
  found.steps = RunEnding::From(run)->steps;
  return found;
}

}  // namespace dlcheck
