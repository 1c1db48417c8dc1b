#include "checks/signals/gradients/clipped_shares.h"

#include <algorithm>
#include <utility>

#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<ClippedShares> ClippedShares::From(const Run& run) {
  const auto has = [&run](Event wanted) {
    return std::ranges::any_of(run.trace.Events(),
                               [wanted](const Occurrence& event) { return event.event == wanted; });
  };
  if (!has(Event::kStep)) return absl::NotFoundError("no optimizer step was observed");
  const std::vector<ThingId> things = run.trace.ThingsWith(Quantity::kClippedParameters);
  if (things.empty()) {
    if (!has(Event::kClip)) return absl::FailedPreconditionError("no gradient was clipped");
    return absl::NotFoundError("clipping was observed, but not which gradients it clipped");
  }
  ClippedShares shares;
  shares.declared = std::string(run.trace.ProcessAttribute("declared.clip"));
  for (const ThingId thing : things) {
    Optimizer optimizer{.name = run.trace.Display(thing), .steps = {}, .in_part = {}};
    for (const Sample& sample :
         FirstProcess(run.trace.Series(Quantity::kClippedParameters, thing))) {
      if (sample.value <= 0) continue;
      optimizer.steps.push_back(sample.step);
      if (sample.value >= sample.aux) continue;
      optimizer.in_part.push_back(sample.step);
      optimizer.clipped = sample.value;
      optimizer.consumed = sample.aux;
    }
    if (!optimizer.steps.empty()) shares.optimizers.push_back(std::move(optimizer));
  }
  return shares;
}

}  // namespace dlcheck
