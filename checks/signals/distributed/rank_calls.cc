#include "checks/signals/distributed/rank_calls.h"

#include <algorithm>
#include <map>
#include <set>

namespace dlcheck {
namespace {

// Their names have a type of numbers, where tensors are given to all members alike.
constexpr std::string_view kUneven[] = {"all_gather_object", "broadcast_object_list", "all_to_all",
                                        "all_to_all_single"};

}  // namespace

bool RankCalls::Call::is_even() const {
  return std::ranges::find(kUneven, name) == std::end(kUneven);
}

absl::StatusOr<RankCalls> RankCalls::From(const Run& run) {
  const Trace& trace = run.trace;
  RankCalls found{.groups = {}, .trace = &trace};
  std::map<ThingId, Group> groups;
  std::set<uint16_t> counted;  // processes of which some calls are only counted
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kCollective) continue;
    if (event.gap) {
      counted.insert(event.rank);
    } else if (event.owner != 0 && !counted.contains(event.rank)) {
      groups[event.owner].calls[event.rank].push_back(
          {trace.thing(event.thing).name, event.value, event.step, event.site});
    }
  }
  for (auto& [id, group] : groups) {
    group.name = trace.thing(id).name;
    if (group.calls.size() > 1) found.groups.push_back(std::move(group));
  }
  if (found.groups.empty()) {
    return WhyNotCompared(trace, "no two ranks called the same torch.distributed group");
  }
  return found;
}

}  // namespace dlcheck
