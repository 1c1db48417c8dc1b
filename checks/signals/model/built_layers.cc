#include "checks/signals/model/built_layers.h"

#include "checks/engine/whole.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<BuiltLayers> BuiltLayers::From(const Run& run) {
  const Trace& trace = run.trace;
  BuiltLayers found;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kForward && !event.gap) ++found.forwards;
  }
  if (found.forwards == 0) return absl::NotFoundError("no forward pass in training was observed");
  for (const ThingId thing : trace.ThingsWith(Quantity::kBuiltAnew)) {
    const auto samples = FirstProcess(trace.Series(Quantity::kBuiltAnew, thing));
    if (samples.empty()) continue;
    const Sample& first = samples.front();
    found.classes.push_back({.name = trace.thing(thing).name,
                             .layers = Whole(first.value),
                             .matters = first.aux != 0,
                             .step = first.step,
                             .site = trace.site(first.site)});
  }
  return found;
}

}  // namespace dlcheck
