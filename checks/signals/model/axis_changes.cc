#include "checks/signals/model/axis_changes.h"

#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<AxisChanges> AxisChanges::From(const Run& run) {
  const Trace& trace = run.trace;
  if (trace.ProcessAttribute("python").empty()) {
    return absl::NotFoundError("only graphs of Python programs are read");
  }
  AxisChanges found;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kBackward && !event.gap) ++found.backwards;
  }
  if (found.backwards == 0) return absl::NotFoundError("no backward call was observed");
  for (const ThingId id : trace.ThingsWith(Quantity::kSwappedSizes)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kSwappedSizes, id))) {
      found.reshapes.push_back({.sizes = trace.thing(id).name,
                                .axis = 0,
                                .step = sample.step,
                                .site = trace.site(sample.site)});
    }
  }
  for (const ThingId id : trace.ThingsWith(Quantity::kMisdirectedSoftmax)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kMisdirectedSoftmax, id))) {
      found.softmaxes.push_back({.sizes = "",
                                 .axis = static_cast<int>(sample.value),
                                 .step = sample.step,
                                 .site = trace.site(sample.site)});
    }
  }
  return found;
}

}  // namespace dlcheck
