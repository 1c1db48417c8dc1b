#include "checks/signals/loss/unused_losses.h"

#include <map>

#include "checks/engine/whole.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {

absl::StatusOr<UnusedLosses> UnusedLosses::From(const Run& run) {
  const Trace& trace = run.trace;
  std::map<SiteId, Line> lines;
  for (const ThingId thing : trace.ThingsWith(Quantity::kUnusedLosses)) {
    for (const Sample& sample : FirstProcess(trace.Series(Quantity::kUnusedLosses, thing))) {
      Line& line = lines[sample.site];
      if (line.steps++ == 0) line.first_step = sample.step;
      line.site = trace.site(sample.site);
      line.only_last += sample.value > 0;
      line.losses = Whole(sample.aux);
      line.last_step = sample.step;
    }
  }
  if (lines.empty()) return absl::NotFoundError("no loss function of PyTorch was called");
  UnusedLosses found;
  for (const auto& [id, line] : lines) found.lines.push_back(line);
  return found;
}

}  // namespace dlcheck
