#include "checks/signals/evaluation/evaluation_dropout.h"

#include "checks/engine/whole.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<EvaluationDropout> EvaluationDropout::From(const Run& run) {
  const Trace& trace = run.trace;
  EvaluationDropout found;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kEvaluationForward) found.evaluated += Whole(event.count);
  }
  for (const ThingId id : trace.ThingsWith(Quantity::kEvaluationDropout)) {
    const auto samples = FirstProcess(trace.Series(Quantity::kEvaluationDropout, id));
    if (samples.empty()) continue;
    found.models.push_back({.name = trace.Display(id),
                            .calls = Whole(samples.back().value),
                            .probability = samples.front().aux,
                            .step = samples.front().step,
                            .site = trace.site(samples.front().site)});
  }
  return found;
}

}  // namespace dlcheck
