#include "checks/signals/schedule/learning_rates.h"

#include <algorithm>

#include "checks/engine/text.h"
#include "checks/signals/optimizer/ownership.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

// An optimizer may have its rate elsewhere than in its groups.
void FindMovesAtZero(const Trace& trace, LearningRates& rates) {
  for (const ThingId id : trace.ThingsWith(Quantity::kUpdateNorm)) {
    const auto found = rates.optimizers.find(OptimizerOrdinal(trace.Attribute(id, "optimizer")));
    if (found == rates.optimizers.end()) continue;
    LearningRates::Optimizer& optimizer = found->second;
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kUpdateNorm, id))) {
      const auto rate = optimizer.highest.find(sample.step);
      if (rate == optimizer.highest.end() || rate->second != 0) continue;
      optimizer.moved_at_zero = optimizer.moved_at_zero || sample.value > 0;
    }
  }
}

}  // namespace

absl::StatusOr<LearningRates> LearningRates::From(const Run& run) {
  LearningRates rates;
  for (const ThingId group : run.trace.ThingsWith(Quantity::kLearningRate)) {
    // A log of another tool names no optimizer.
    const bool is_logged = !run.trace.ProcessAttribute("log").empty();
    const std::string& group_name = run.trace.thing(group).name;
    const int ordinal = is_logged ? 0 : OptimizerOrdinal(group_name);
    const std::span<const Sample> samples =
        FirstProcess(run.trace.Series(Quantity::kLearningRate, group));
    if (ordinal < 0 || samples.empty()) continue;
    Optimizer& optimizer = rates.optimizers[ordinal];
    optimizer.name = is_logged ? group_name : StrCat("optimizer#", ordinal);
    for (const Sample& sample : samples) {
      double& highest = optimizer.highest.try_emplace(sample.step, sample.value).first->second;
      highest = std::max(highest, sample.value);
      optimizer.peak = std::max(optimizer.peak, sample.value);
      if (sample.value != samples.front().value) optimizer.constant = false;
    }
  }
  if (rates.optimizers.empty()) return absl::NotFoundError("no learning rate was recorded");
  FindMovesAtZero(run.trace, rates);
  return rates;
}

}  // namespace dlcheck
