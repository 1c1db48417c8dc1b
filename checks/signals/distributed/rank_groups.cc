#include "checks/signals/distributed/rank_groups.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "checks/engine/processes.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"

namespace dlcheck {

Ranks MembersNamed(std::string_view name) {
  Ranks members;
  for (const std::string& part :
       std::vector<std::string>(absl::StrSplit(std::string(name), ',', absl::SkipEmpty()))) {
    const std::vector<std::string> ends = absl::StrSplit(part, '-');
    uint32_t first = 0, last = 0;
    if (ends.size() > 2 || !absl::SimpleAtoi(ends.front(), &first) ||
        !absl::SimpleAtoi(ends.back(), &last) || last > UINT16_MAX) {
      return {};
    }
    for (uint32_t rank = first; rank <= last; ++rank) {
      members.push_back(static_cast<uint16_t>(rank));
    }
  }
  return members;
}

std::string RanksText(const Ranks& ranks) {
  std::vector<std::string> numbers;
  for (const uint16_t rank : ranks) numbers.push_back(StrCat(rank));
  return StrCat(ranks.size() == 1 ? "rank " : "ranks ", Listed(numbers));
}

absl::Status WhyNotCompared(const Trace& trace, std::string_view otherwise) {
  bool stepped = false;
  uint16_t last_rank = 0;
  for (const Occurrence& event : trace.Events()) {
    stepped = stepped || event.event == Event::kStep;
    last_rank = std::max(last_rank, event.rank);
  }
  if (!stepped) return absl::NotFoundError("no optimizer step was observed");
  if (last_rank == 0)
    return absl::FailedPreconditionError("needs two or more ranks: only one process trained");
  return absl::FailedPreconditionError(std::string(otherwise));
}

bool StepTogether(const Trace& trace, const Ranks& members) {
  ByRank<int64_t> steps;
  std::map<int64_t, ThingId> optimizers;  // by sampled step
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kStep && event.event != Event::kSkipped) continue;
    steps[event.rank] += Whole(event.count);
    if (event.gap || std::ranges::find(members, event.rank) == members.end()) continue;
    const ThingId first = optimizers.emplace(event.step, event.thing).first->second;
    if (first != event.thing) return false;
  }
  bool all_ended = true;
  int64_t least = INT64_MAX, most = 0;
  for (const uint16_t rank : members) {
    least = std::min(least, steps[rank]);
    most = std::max(most, steps[rank]);
    all_ended = all_ended && EndOf(trace, rank) == "finished";
  }
  return most - least <= (all_ended ? 0 : 1);
}

}  // namespace dlcheck
