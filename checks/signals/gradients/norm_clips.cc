#include "checks/signals/gradients/norm_clips.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "checks/signals/gradients/gradients.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck {
namespace {

struct Consumed {
  double norm = 0;
  double elements = 0;
  double smallest = std::numeric_limits<double>::infinity();
};

std::map<int64_t, Consumed> ConsumedByStep(const Gradients& gradients) {
  std::map<int64_t, Consumed> steps;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    if (parameter.optimizer.empty()) continue;
    for (const Sample& sample : parameter.consumed) {
      if (sample.rank != 0) continue;
      Consumed& consumed = steps[sample.step];
      consumed.norm = std::hypot(consumed.norm, sample.value);
      consumed.elements += parameter.elements;
      if (sample.value > 0) consumed.smallest = std::min(consumed.smallest, sample.value);
    }
  }
  return steps;
}

// What clippings after the last backward call leave; 0 for none.
double BoundOf(const StepOrder& order, const StepOrder::Step& step) {
  double bound = 0;
  const int64_t begin = std::max<int64_t>(0, step.LastBackward());
  for (const Occurrence& clip : step.Within(Event::kClip, begin, step.end())) {
    if (order.trace->thing(clip.thing).name != "norm" || clip.aux != 2) return 0;
    bound = std::hypot(bound, clip.value);
  }
  return std::isfinite(bound) ? bound : 0;
}

}  // namespace

absl::StatusOr<NormClips> NormClips::From(const Run& run) {
  const absl::StatusOr<StepOrder> order = StepOrder::From(run);
  if (!order.ok()) return order.status();
  if (!order->has_one_at_a_time()) {
    return absl::FailedPreconditionError("needs a program with a single optimizer");
  }
  const absl::StatusOr<Gradients> gradients = Gradients::From(run);
  if (!gradients.ok()) return gradients.status();
  NormClips clips;
  clips.declared = std::string(run.trace.ProcessAttribute("declared.clip"));
  const std::map<int64_t, Consumed> consumed = ConsumedByStep(*gradients);
  for (const StepOrder::Step& step : order->steps) {
    const double bound = BoundOf(*order, step);
    const auto found = consumed.find(step.step);
    if (bound == 0 || found == consumed.end() || !std::isfinite(found->second.norm)) continue;
    clips.steps.push_back({.step = step.step,
                           .norm = found->second.norm,
                           .smallest = found->second.smallest,
                           .bound = bound,
                           .elements = found->second.elements});
  }
  if (clips.steps.empty()) {
    return absl::FailedPreconditionError(
        "no optimizer step clipped its gradients by the L2 norm only");
  }
  return clips;
}

bool NormClips::LeaveLessThan(double least, size_t count) const {
  return steps.size() >= count &&
         std::all_of(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(count),
                     [&](const Step& step) { return step.IsAtBound() && step.Left() < least; });
}

}  // namespace dlcheck
