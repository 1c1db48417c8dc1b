#include "checks/signals/optimizer/shared_steps.h"

#include <cmath>

#include "checks/signals/run/first_process.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck {
namespace {

// Two norms of one gradient, which a kernel may add up in another order.
constexpr double kSame = 1e-6;

using Norms = std::map<int64_t, std::map<ThingId, double>>;  // by step and parameter

Norms NormsByStep(const Trace& trace) {
  Norms norms;
  for (const ThingId id : trace.ThingsWith(Quantity::kGradientNorm)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kGradientNorm, id))) {
      if (sample.value > 0 && std::isfinite(sample.value)) norms[sample.step][id] = sample.value;
    }
  }
  return norms;
}

std::vector<std::string> SameAtBoth(const Trace& trace, const std::map<ThingId, double>& before,
                                    const std::map<ThingId, double>& after) {
  std::vector<std::string> same;
  for (const auto& [id, norm] : after) {
    const auto found = before.find(id);
    if (found != before.end() && std::abs(found->second - norm) <= kSame * norm) {
      same.push_back(trace.Display(id));
    }
  }
  return same;
}

}  // namespace

absl::StatusOr<SharedSteps> SharedSteps::From(const Run& run) {
  const absl::StatusOr<StepOrder> order = StepOrder::From(run);
  if (!order.ok()) return order.status();
  if (order->has_one_optimizer()) {
    return absl::FailedPreconditionError("needs two optimizers: only one stepped");
  }
  const Norms norms = NormsByStep(run.trace);
  SharedSteps shared;
  std::map<std::pair<ThingId, ThingId>, Pair> pairs;
  for (size_t i = 1; i < order->steps.size(); ++i) {
    const StepOrder::Step& before = order->steps[i - 1];
    const StepOrder::Step& step = order->steps[i];
    const bool follows = step.step == before.step + 1 && step.optimizer != before.optimizer;
    if (!follows) continue;
    ++shared.judged;
    const auto held = norms.find(before.step), consumed = norms.find(step.step);
    if (step.Count(Event::kBackward) > 0 || held == norms.end() || consumed == norms.end())
      continue;
    std::vector<std::string> same = SameAtBoth(run.trace, held->second, consumed->second);
    if (same.empty()) continue;
    Pair& pair = pairs[{before.optimizer, step.optimizer}];
    if (pair.steps.empty()) {
      pair.first = run.trace.Display(before.optimizer);
      pair.second = run.trace.Display(step.optimizer);
      pair.site = step.site;
    }
    pair.steps[step.step] = std::move(same);
  }
  for (auto& [optimizers, pair] : pairs) shared.pairs.push_back(std::move(pair));
  return shared;
}

}  // namespace dlcheck
