#include "checks/signals/data/changed_targets.h"

namespace dlcheck {

absl::StatusOr<ChangedTargets> ChangedTargets::From(const Run& run) {
  ChangedTargets found;
  for (const ThingId thing : run.trace.ThingsWith(Quantity::kChangedTargets)) {
    for (const Sample& sample : run.trace.Series(Quantity::kChangedTargets, thing)) {
      ++found.repeated;
      if (sample.value == 0) continue;
      if (found.changed++ == 0) found.first_step = sample.step;
      found.last_step = sample.step;
    }
  }
  if (found.repeated == 0) return absl::NotFoundError("no two steps had the same inputs");
  return found;
}

}  // namespace dlcheck
