#include "checks/signals/evaluation/evaluation_losses.h"

#include <algorithm>
#include <map>
#include <utility>

#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<EvaluationLosses> EvaluationLosses::From(const Run& run) {
  EvaluationLosses found;
  const std::vector<ThingId> things = run.trace.ThingsWith(Quantity::kEvaluationLoss);
  if (things.empty()) return absl::NotFoundError("no evaluation with a loss was observed");
  for (const ThingId thing : things) {
    Model model{.name = run.trace.Display(thing), .points = {}};
    const auto evaluations = FirstProcess(run.trace.Series(Quantity::kEvaluationLoss, thing));
    std::map<double, int> sizes;
    for (const Sample& sample : evaluations) ++sizes[sample.aux];
    const auto usual =
        std::ranges::max_element(sizes, {}, [](const auto& size) { return size.second; });
    for (const Sample& sample : evaluations) {
      if (sample.aux == usual->first) model.points.push_back({sample.step, sample.value});
    }
    found.models.push_back(std::move(model));
  }
  return found;
}

}  // namespace dlcheck
