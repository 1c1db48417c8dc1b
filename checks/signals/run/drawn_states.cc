#include "checks/signals/run/drawn_states.h"

#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<DrawnStates> DrawnStates::From(const Run& run) {
  const Trace& trace = run.trace;
  DrawnStates found;
  for (const ThingId thing : trace.ThingsWith(Quantity::kDrawnState)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kDrawnState, thing))) {
      std::vector<int64_t>& steps = found.steps[{sample.owner, sample.value, sample.aux}];
      if (steps.empty() || steps.back() != sample.step) steps.push_back(sample.step);
      found.site = trace.site(sample.site);
      ++found.seeds;
    }
  }
  if (found.seeds == 0)
    return absl::NotFoundError("no optimizer step drew random numbers after a seed was set");
  return found;
}

}  // namespace dlcheck
