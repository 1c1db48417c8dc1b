#include "checks/signals/lost_updates.h"

namespace dlcheck {

absl::StatusOr<LostUpdateCounts> LostUpdateCounts::From(const Run& run) {
  const Trace& trace = run.trace;
  const std::vector<ThingId> things = trace.ThingsWith(Quantity::kLostUpdates);
  if (things.empty()) return absl::NotFoundError("no update was worked out again");
  LostUpdateCounts lost;
  lost.rounding = std::string(trace.ProcessAttribute("declared.rounding"));
  for (const ThingId thing : things) {
    const std::string_view type = trace.Attribute(thing, "dtype");
    if (type != "bfloat16" && type != "float16") continue;
    lost.parameters.push_back(trace.Display(thing));
    for (const Sample& sample : trace.Series(Quantity::kLostUpdates, thing)) {
      if (!(sample.aux > 0)) continue;
      Counts& counts = lost.steps[sample.step];
      counts.lost += sample.value * sample.aux;
      counts.elements += sample.aux;
    }
  }
  return lost;
}

}  // namespace dlcheck
