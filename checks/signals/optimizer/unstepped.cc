#include "checks/signals/optimizer/unstepped.h"

#include <map>
#include <set>

#include "absl/strings/numbers.h"
#include "checks/engine/whole.h"
#include "checks/signals/run/first_process.h"

namespace dlcheck {
namespace {

void AddWaiting(const Trace& trace, std::map<ThingId, Unstepped::Optimizer>& optimizers) {
  for (const ThingId thing : trace.ThingsOfKind("optimizer")) {
    int64_t waiting = 0;
    if (!absl::SimpleAtoi(std::string(trace.Attribute(thing, "waiting")), &waiting)) continue;
    Unstepped::Optimizer& optimizer = optimizers[thing];
    optimizer.name = trace.Display(thing);
    optimizer.waiting = waiting;
  }
}

}  // namespace

absl::StatusOr<Unstepped> Unstepped::From(const Run& run) {
  const Trace& trace = run.trace;
  std::map<ThingId, Optimizer> cleared;
  std::set<ThingId> stepped;
  Unstepped found;
  bool steps_unseen = false;
  for (const Occurrence& event : FirstProcess(trace.Events())) {
    const auto count = Whole(event.count);
    if (event.event == Event::kBackward) found.backwards += count;
    const bool is_step = event.event == Event::kStep || event.event == Event::kSkipped;
    if (is_step && event.gap) steps_unseen = true;
    if (is_step && !event.gap) stepped.insert(event.thing);
    if (event.event != Event::kCleared || event.gap) continue;
    if (trace.thing(event.thing).kind != "optimizer") continue;
    Optimizer& optimizer = cleared[event.thing];
    if (++optimizer.cleared == 1) {
      optimizer.name = trace.Display(event.thing);
      optimizer.site = trace.site(event.site);
    }
  }
  AddWaiting(trace, cleared);
  if (cleared.empty() && stepped.empty()) return absl::NotFoundError("no optimizer was observed");
  // Whose steps are those of a gap is not known; one that stepped at no sampled step may be it.
  if (steps_unseen && stepped.empty()) return absl::NotFoundError("no optimizer step was sampled");
  found.stepped = static_cast<int64_t>(stepped.size());
  for (const auto& [thing, optimizer] : cleared) {
    if (stepped.contains(thing)) continue;
    if (trace.Attribute(thing, "moved_otherwise") == "1") {
      ++found.moved_otherwise;
    } else {
      found.optimizers.push_back(optimizer);
    }
  }
  return found;
}

}  // namespace dlcheck
