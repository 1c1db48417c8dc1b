#include "checks/signals/precision/step_calls.h"

#include <algorithm>
#include <set>

#include "checks/engine/whole.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

int64_t Growths(const Trace& trace) {
  int64_t growths = 0;
  for (const ThingId scaler : trace.ThingsWith(Quantity::kLossScale)) {
    const auto scales = FirstProcess(trace.Series(Quantity::kLossScale, scaler));
    for (size_t i = 1; i < scales.size(); ++i) {
      if (scales[i].value > scales[i - 1].value) ++growths;
    }
  }
  return growths;
}

}  // namespace

absl::StatusOr<StepCalls> StepCalls::From(const Run& run) {
  StepCalls result;
  int64_t counted = 0;
  std::set<ThingId> optimizers;
  bool scaled = !run.trace.ThingsWith(Quantity::kLossScale).empty();
  for (const Occurrence& event : FirstProcess(run.trace.Events())) {
    scaled = scaled || event.event == Event::kUnscale;
    if (event.event != Event::kStep && event.event != Event::kSkipped) continue;
    counted += Whole(event.count);
    result.calls = std::max(result.calls, event.last_step + 1);
    if (!event.gap) optimizers.insert(event.thing);
    if (event.event == Event::kStep) continue;
    if (!event.gap && event.step == result.leading) ++result.leading;
    if (result.skipped == 0) {
      result.first_skipped = event.step;
      result.site = event.site;
    }
    result.skipped += Whole(event.count);
    result.last_skipped = event.last_step;
  }
  if (counted == 0) return absl::NotFoundError("no optimizer step was observed");
  if (!scaled && result.skipped == 0) {
    return absl::FailedPreconditionError("no GradScaler was used, and no step was skipped");
  }
  // The last gap reaches beyond the last call; a call that was left out may be counted twice.
  result.calls = std::min(result.calls, counted);
  result.after_growth = Growths(run.trace) * static_cast<int64_t>(optimizers.size());
  return result;
}

}  // namespace dlcheck
