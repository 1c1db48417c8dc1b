#include "checks/signals/loss/graphs.h"

#include <algorithm>
#include <span>

#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

// Of the graphs looked at: one may be that of a call that was given up.
constexpr double kNearlyAll = 0.9;

// The series of one line with a backward call, or of all of them.
void Grow(std::span<const Sample> series, LiveGraphs& result) {
  result.judged += static_cast<int64_t>(series.size());
  LiveGraphs::Row row;
  for (const Sample& sample : series) {
    if (sample.aux <= 0 || sample.value < kNearlyAll * sample.aux) {
      row = {};
      continue;
    }
    if (row.steps == 0 || sample.value < row.last) {
      row = {.steps = 0, .first_step = sample.step, .first = sample.value, .site = sample.site};
    }
    ++row.steps;
    row.last_step = sample.step;
    row.last = sample.value;
    if (row.steps > result.growing.steps) result.growing = row;
  }
}

}  // namespace

absl::StatusOr<BackwardCalls> BackwardCalls::From(const Run& run) {
  BackwardCalls result;
  result.trace = &run.trace;
  bool seen = false;
  for (const Occurrence& event : FirstProcess(run.trace.Events())) {
    if (event.event != Event::kBackward) continue;
    seen = true;
    if (event.gap) continue;
    if (result.calls++ == 0) result.first_step = event.step;
    if (result.calls == 1 || event.step != result.last_step) ++result.steps;
    result.last_step = event.step;
    if (event.value == 0 || event.aux != 0) continue;
    if (result.retaining++ == 0) result.site = event.site;
  }
  if (!seen) return absl::NotFoundError("no backward call was observed");
  return result;
}

absl::StatusOr<LiveGraphs> LiveGraphs::From(const Run& run) {
  LiveGraphs result{.trace = &run.trace, .growing = {}};
  for (const ThingId thing : run.trace.ThingsWith(Quantity::kLiveGraphs)) {
    Grow(FirstProcess(run.trace.Series(Quantity::kLiveGraphs, thing)), result);
  }
  if (result.judged == 0) {
    return absl::NotFoundError("the number of live autograd graphs was not recorded");
  }
  return result;
}

}  // namespace dlcheck
