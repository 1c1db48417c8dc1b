#include "checks/signals/run_ending.h"

namespace dlcheck {

absl::StatusOr<RunEnding> RunEnding::From(const Run& run) {
  RunEnding result{.ending = run.ending,
                   .steps = 0,
                   .rejected_file = "",
                   .rejected_cause = "",
                   .model = std::string(run.trace.ProcessAttribute("declared.model"))};
  for (const Occurrence& event : run.trace.Events()) {
    if (event.event == Event::kStep) result.steps += static_cast<int64_t>(event.count);
    if (event.event == Event::kInputRejected) {
      result.rejected_file = run.trace.thing(event.thing).name;
      result.rejected_cause = std::string(run.trace.Attribute(event.thing, "cause"));
    }
  }
  return result;
}

}  // namespace dlcheck
