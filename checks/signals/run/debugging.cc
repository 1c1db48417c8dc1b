#include "checks/signals/run/debugging.h"

#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<Debugging> Debugging::From(const Run& run) {
  Debugging debugging;
  for (const Occurrence& event : FirstProcess(run.trace.Events())) {
    if (event.gap) continue;
    if (event.event == Event::kStep) debugging.steps.insert(event.step);
    if (event.event != Event::kDebugging) continue;
    debugging.facilities[run.trace.Display(event.thing)].insert(event.step);
  }
  if (debugging.steps.empty()) return absl::NotFoundError("no optimizer step was observed");
  return debugging;
}

}  // namespace dlcheck
