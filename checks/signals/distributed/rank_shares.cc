#include "checks/signals/distributed/rank_shares.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"

namespace dlcheck {
namespace {

using Parts = std::map<int64_t, ByRank<RankShares::Part>>;

// Of steps and processes in which each backward call started from one loss that is known.
Parts PartsOf(const Trace& trace) {
  Parts parts;
  std::map<std::pair<int64_t, uint16_t>, std::set<uint16_t>> known;  // micro-steps
  std::set<std::pair<int64_t, uint16_t>> doubled;
  for (const ThingId thing : trace.ThingsWith(Quantity::kLossShare)) {
    for (const Sample& sample : trace.Series(Quantity::kLossShare, thing)) {
      const std::pair key(sample.step, sample.rank);
      if (!known[key].insert(sample.micro_step).second) doubled.insert(key);
      RankShares::Part& part = parts[sample.step][sample.rank];
      part.share += sample.value;
      part.targets += sample.aux;
      ++part.calls;
    }
  }
  std::map<std::pair<int64_t, uint16_t>, size_t> calls;
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kBackward && !event.gap) ++calls[{event.step, event.rank}];
  }
  for (auto& [step, by_rank] : parts) {
    std::erase_if(by_rank, [&, step = step](const auto& entry) {
      const std::pair key(step, entry.first);
      return doubled.contains(key) || calls[key] != known[key].size() ||
             !(entry.second.targets > 0);
    });
  }
  return parts;
}

}  // namespace

double RankShares::Step::Unevenness() const {
  const auto targets = [](const auto& entry) { return entry.second.targets; };
  const auto [least, most] = std::ranges::minmax_element(parts, {}, targets);
  return most->second.targets / least->second.targets;
}

absl::StatusOr<RankShares> RankShares::From(const Run& run) {
  const Trace& trace = run.trace;
  RankShares found;
  const Parts parts = PartsOf(trace);
  bool any_group = false;
  for (const ThingId id : trace.ThingsOfKind(kReplicas)) {
    const Ranks members = MembersNamed(trace.thing(id).name);
    const bool is_wrapped = !trace.Attribute(id, "wrapped").empty();
    if (members.size() < 2 || !is_wrapped || !StepTogether(trace, members)) continue;
    any_group = true;
    Group group{.name = trace.thing(id).name, .steps = {}};
    if (!absl::SimpleAtod(std::string(trace.Attribute(id, "gradients_times")), &group.factor)) {
      group.factor = 0;
    }
    for (const auto& [step, by_rank] : parts) {
      Step one{.step = step, .parts = {}};
      for (const uint16_t rank : members) {
        const auto part = by_rank.find(rank);
        if (part != by_rank.end()) one.parts.insert(*part);
      }
      if (one.parts.size() == members.size()) group.steps.push_back(std::move(one));
    }
    if (!group.steps.empty()) found.groups.push_back(std::move(group));
  }
  if (!any_group) {
    return WhyNotCompared(trace, "no DDP wrapper averages gradients over ranks that step together");
  }
  if (found.groups.empty()) {
    return absl::NotFoundError("no step recorded the loss weights of all ranks");
  }
  return found;
}

}  // namespace dlcheck
