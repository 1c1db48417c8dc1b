#include "checks/signals/checkpoint/own_states.h"

#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<OwnStates> OwnStates::From(const Run& run) {
  const Trace& trace = run.trace;
  OwnStates found;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event != Event::kLoaded || event.gap || event.thing == 0) continue;
    if (trace.thing(event.thing).kind == "model") ++found.all;
  }
  for (const ThingId model : trace.ThingsWith(Quantity::kOwnStateLoaded)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kOwnStateLoaded, model))) {
      found.loads.push_back({.model = trace.Display(model),
                             .parameters = sample.value,
                             .step = sample.step,
                             .site = trace.site(sample.site)});
    }
  }
  if (found.all == 0) return absl::NotFoundError("load_state_dict() was never called on a model");
  return found;
}

}  // namespace dlcheck
