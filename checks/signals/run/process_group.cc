#include "checks/signals/run/process_group.h"

#include <algorithm>
#include <string>

#include "absl/strings/numbers.h"

namespace dlcheck {

absl::StatusOr<ProcessGroup> ProcessGroup::From(const Run& run) {
  const bool stepped = std::ranges::any_of(
      run.trace.Events(), [](const Occurrence& event) { return event.event == Event::kStep; });
  if (!stepped) return absl::NotFoundError("no optimizer step was observed");
  ProcessGroup group;
  const std::string size(run.trace.ProcessAttribute("world_size"));
  if (!absl::SimpleAtoi(size, &group.processes) || group.processes < 2) {
    return absl::FailedPreconditionError("needs two or more ranks: only one process trained");
  }
  return group;
}

}  // namespace dlcheck
