#include "checks/signals/optimizer/frozen_from_start.h"

#include <set>

#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<FrozenFromStart> FrozenFromStart::From(const Run& run) {
  const Trace& trace = run.trace;
  FrozenFromStart found;
  std::set<ThingId> changed;     // whether they require a gradient
  std::set<ThingId> optimizers;  // that have stepped
  bool loaded = false;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kStep) found.steps += static_cast<int64_t>(event.count);
    if (event.event == Event::kLoaded) loaded = true;
    const bool begins = event.event == Event::kStep && optimizers.insert(event.thing).second;
    if (begins) found.loaded = loaded;
    if (event.event == Event::kFrozen || event.event == Event::kThawed) changed.insert(event.thing);
  }
  if (found.steps == 0) return absl::NotFoundError("no optimizer step was observed");
  for (const ThingId id : trace.ThingsOfKind("parameter")) {
    if (trace.Attribute(id, "optimizer").empty()) continue;
    ++found.parameters;
    const bool is_frozen = trace.Attribute(id, "requires_grad") == "0" && !changed.contains(id) &&
                           trace.Series(Quantity::kGradientNorm, id).empty();
    const bool is_matrix = trace.Attribute(id, "shape").find('x') != std::string_view::npos;
    // A bare parameter, as a table of fixed positions, has a name of its own.
    if (is_frozen && is_matrix && trace.thing(id).name.ends_with("weight")) {
      found.weights.push_back(trace.Display(id));
    }
  }
  return found;
}

}  // namespace dlcheck
