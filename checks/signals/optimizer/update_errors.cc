#include "checks/signals/optimizer/update_errors.h"

#include <utility>

#include "checks/signals/run/not_told.h"

namespace dlcheck {
namespace {

std::set<int64_t> StepsStillScaled(const Trace& trace) {
  std::set<int64_t> steps;
  for (const ThingId scaler : trace.ThingsWith(Quantity::kLossScale)) {
    for (const Sample& sample : trace.Series(Quantity::kLossScale, scaler)) {
      if (sample.value != 1) steps.insert(sample.step);
    }
  }
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kUnscale && !event.gap) steps.erase(event.step);
  }
  return steps;
}

}  // namespace

absl::StatusOr<UpdateErrors> UpdateErrors::From(const Run& run) {
  UpdateErrors errors;
  const std::set<int64_t> scaled = StepsStillScaled(run.trace);
  for (const ThingId id : run.trace.ThingsWith(Quantity::kUpdateError)) {
    Parameter parameter{run.trace.Display(id), {}};
    for (const Sample& sample : run.trace.Series(Quantity::kUpdateError, id)) {
      if (scaled.contains(sample.step)) continue;
      parameter.errors.push_back(sample);
      errors.steps.insert(sample.step);
    }
    if (!parameter.errors.empty()) errors.parameters.push_back(std::move(parameter));
  }
  if (errors.parameters.empty()) {
    return absl::NotFoundError(kNotTold);
  }
  return errors;
}

}  // namespace dlcheck
