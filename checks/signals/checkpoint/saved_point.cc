#include "checks/signals/checkpoint/saved_point.h"

#include <algorithm>

#include "checks/engine/whole.h"
#include "checks/signals/checkpoint/state_files.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

int64_t StepsOf(const Trace& trace) {
  int64_t steps = 0;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    const bool moves_clock = event.event == Event::kStep || event.event == Event::kSkipped;
    if (moves_clock) steps += Whole(event.count);
  }
  return steps;
}

}  // namespace

absl::StatusOr<SavedPoint> SavedPoint::From(const Run& run) {
  const absl::StatusOr<StateFiles> files = StateFiles::From(run);
  const absl::Status none = absl::FailedPreconditionError(
      "the program saves no checkpoint between two steps from which training can resume");
  if (!files.ok()) return none;
  const int64_t steps = StepsOf(run.trace);
  const StateFiles::Save* chosen = nullptr;
  for (const StateFiles::Save& save : files->saves) {
    if (!save.contents.contains("model") || save.step == 0 || save.step >= steps) continue;
    const bool has_more = save.contents.contains("optimizer");
    if (chosen != nullptr && (!has_more || chosen->contents.contains("optimizer"))) continue;
    chosen = &save;
  }
  if (chosen == nullptr) return none;
  SavedPoint point{.step = chosen->step, .end = steps, .files = {}};
  for (const StateFiles::Save& save : files->saves) {
    if (save.step <= point.step) point.files.insert(save.file);
    if (save.step > point.step) point.end = std::min(point.end, save.step);
  }
  return point;
}

}  // namespace dlcheck
