#include "checks/signals/evaluation/evaluation_losses.h"

#include <utility>

#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<EvaluationLosses> EvaluationLosses::From(const Run& run) {
  EvaluationLosses found;
  const std::vector<ThingId> things = run.trace.ThingsWith(Quantity::kEvaluationLoss);
  if (things.empty()) return absl::NotFoundError("no evaluation with a loss was observed");
  for (const ThingId thing : things) {
    Model model{.name = run.trace.Display(thing), .points = {}};
    bool is_equal = true;
    double samples = -1;
    for (const Sample& sample : FirstProcess(run.trace.Series(Quantity::kEvaluationLoss, thing))) {
      is_equal = is_equal && (samples < 0 || samples == sample.aux);
      samples = sample.aux;
      model.points.push_back({sample.step, sample.value});
    }
    if (is_equal) found.models.push_back(std::move(model));
  }
  return found;
}

}  // namespace dlcheck
