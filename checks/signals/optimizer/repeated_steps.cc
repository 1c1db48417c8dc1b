#include "checks/signals/optimizer/repeated_steps.h"

#include <utility>

#include "checks/signals/run/step_order.h"

namespace dlcheck {
namespace {

// The norm of each parameter's gradient, by the step that consumed it.
using Norms = std::map<ThingId, double>;

std::map<int64_t, Norms> NormsByStep(const Trace& trace) {
  std::map<int64_t, Norms> norms;
  for (const ThingId parameter : trace.ThingsWith(Quantity::kGradientNorm)) {
    for (const Sample& sample : trace.Series(Quantity::kGradientNorm, parameter)) {
      if (sample.rank == 0) norms[sample.step][parameter] = sample.value;
    }
  }
  return norms;
}

bool IsZero(const Norms& norms) {
  for (const auto& [parameter, norm] : norms) {
    if (norm != 0) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<RepeatedSteps> RepeatedSteps::From(const Run& run) {
  const absl::StatusOr<StepOrder> order = StepOrder::From(run);
  if (!order.ok()) return order.status();
  std::map<int64_t, Norms> norms = NormsByStep(run.trace);
  struct Last {
    int64_t step = 0;
    bool backward_since = false;
  };
  std::map<ThingId, Last> last;
  std::map<ThingId, Optimizer> found;
  RepeatedSteps result;
  int64_t before = -2;
  for (const StepOrder::Step& step : order->steps) {
    if (step.step != before + 1) last.clear();  // what a gap held is not known
    before = step.step;
    if (step.Count(Event::kBackward) > 0) {
      for (auto& [optimizer, known] : last) known.backward_since = true;
    }
    const auto known = last.find(step.optimizer);
    if (known != last.end()) {
      ++result.judged;
      const Norms& now = norms[step.step];
      if (!known->second.backward_since && step.taken && !IsZero(now) &&
          now == norms[known->second.step]) {
        Optimizer& optimizer = found[step.optimizer];
        if (optimizer.repeated.empty()) {
          optimizer.name = run.trace.Display(step.optimizer);
          optimizer.site = run.trace.site(step.site);
        }
        optimizer.repeated.push_back(step.step);
      }
    }
    last[step.optimizer] = {.step = step.step, .backward_since = false};
  }
  if (result.judged == 0)
    return absl::NotFoundError("no two consecutive optimizer steps were observed");
  for (auto& [thing, optimizer] : found) result.optimizers.push_back(std::move(optimizer));
  return result;
}

}  // namespace dlcheck
