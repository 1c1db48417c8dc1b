#include "checks/signals/run/stated.h"

#include "checks/records/names.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

// Whether whoever recorded the run looks for this.
bool IsWatched(const Trace& trace, Quantity quantity) {
  if (!trace.ProcessAttribute("python").empty()) return true;
  const bool is_preloaded = !trace.ProcessAttribute("preloaded").empty();
  return is_preloaded && WritersOf(quantity).find('N') != std::string_view::npos;
}

}  // namespace

absl::StatusOr<Statements> StatementsIn(const Run& run, Quantity quantity) {
  const Trace& trace = run.trace;
  if (!IsWatched(trace, quantity) && trace.ThingsWith(quantity).empty()) {
    return absl::NotFoundError("only Python programs are watched for this");
  }
  Statements found;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    if (event.event == Event::kStep) found.steps += static_cast<int64_t>(event.count);
  }
  if (found.steps == 0 && trace.ThingsWith(quantity).empty()) {
    return absl::NotFoundError("no optimizer step was observed");
  }
  for (const ThingId id : trace.ThingsWith(quantity)) {
    const auto samples = FirstProcess(trace.Series(quantity, id));
    if (samples.empty()) continue;
    const Sample& last = samples.back();
    found.all.push_back({.name = trace.thing(id).name,
                         .value = last.value,
                         .aux = last.aux,
                         .first_step = samples.front().step,
                         .last_step = last.step,
                         .count = static_cast<int64_t>(samples.size()),
                         .site = trace.site(last.site)});
  }
  return found;
}

}  // namespace dlcheck
