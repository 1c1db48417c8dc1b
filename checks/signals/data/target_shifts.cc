#include "checks/signals/data/target_shifts.h"

#include "checks/engine/whole.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<TargetShifts> TargetShifts::From(const Run& run) {
  TargetShifts found;
  std::set<int64_t> steps;
  for (const ThingId loss : run.trace.ThingsWith(Quantity::kTargetShift)) {
    if (found.function.empty()) found.function = run.trace.Display(loss);
    for (const Sample& sample : FirstProcess(run.trace.Series(Quantity::kTargetShift, loss))) {
      steps.insert(sample.step);
      found.shifts.insert(Whole(sample.value));
    }
  }
  if (steps.empty()) {
    return absl::NotFoundError("no targets were observed that are tokens of the model's own input");
  }
  found.steps.assign(steps.begin(), steps.end());
  return found;
}

}  // namespace dlcheck
