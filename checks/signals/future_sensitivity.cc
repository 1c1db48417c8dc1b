#include "checks/signals/future_sensitivity.h"

namespace dlcheck {

absl::StatusOr<FutureSensitivity> FutureSensitivity::From(const Run& run) {
  FutureSensitivity sensitivity;
  for (const ThingId model : run.trace.ThingsWith(Quantity::kFutureSensitivity)) {
    for (const Sample& sample : run.trace.Series(Quantity::kFutureSensitivity, model)) {
      sensitivity.trials.push_back(
          {run.trace.Display(model), sample.step, sample.value, sample.aux});
    }
  }
  if (sensitivity.trials.empty()) {
    return absl::NotFoundError("the host tried no model that is to be causal");
  }
  return sensitivity;
}

}  // namespace dlcheck
