#include "checks/signals/distributed/rank_times.h"

#include <algorithm>
#include <map>
#include <utility>

#include "checks/engine/processes.h"
#include "checks/signals/run/statistics.h"

namespace dlcheck {
namespace {

constexpr int64_t kWarmUp = 4;  // steps in which memory is taken and threads begin

// The program calls operations of all processes before the backward calls of most steps, in which
// each waits for the others.
bool CallsInMostSteps(const Trace& trace) {
  int64_t calls = 0, steps = 0;
  bool is_before = true;
  for (const Occurrence& event : trace.Events()) {
    if (event.rank != 0 || event.gap) continue;
    calls += is_before && event.event == Event::kCollective;
    steps += event.event == Event::kStep;
    if (event.event == Event::kBackward) is_before = false;
    if (event.event == Event::kStep) is_before = true;
  }
  return 2 * calls > steps;
}

using Steps = std::map<int64_t, ByRank<double>>;

Steps OwnTimes(const Trace& trace) {
  Steps steps;
  for (const ThingId thing : trace.ThingsWith(Quantity::kOwnTime)) {
    for (const Sample& sample : trace.Series(Quantity::kOwnTime, thing)) {
      if (sample.step >= kWarmUp) steps[sample.step][sample.rank] = sample.value;
    }
  }
  return steps;
}

RankTimes::Group GroupOf(const Steps& steps, std::string name, const Ranks& members) {
  RankTimes::Group group{.name = std::move(name), .medians = {}};
  ByRank<std::vector<double>> times;
  std::vector<ByRank<double>> whole;
  for (const auto& [step, by_rank] : steps) {
    ByRank<double> of_members;
    for (const uint16_t rank : members) {
      const auto time = by_rank.find(rank);
      if (time != by_rank.end()) of_members.insert(*time);
    }
    if (of_members.size() < members.size()) continue;
    for (const auto& [rank, time] : of_members) times[rank].push_back(time);
    whole.push_back(std::move(of_members));
  }
  group.steps = static_cast<int64_t>(whole.size());
  for (auto& [rank, values] : times) group.medians[rank] = Median(std::move(values));
  const auto second = &ByRank<double>::value_type::second;
  if (whole.empty()) return group;
  group.slowest = std::ranges::max_element(group.medians, {}, second)->first;
  group.behind = std::ranges::count_if(whole, [&](const ByRank<double>& step) {
    return std::ranges::max_element(step, {}, second)->first == group.slowest;
  });
  return group;
}

}  // namespace

absl::StatusOr<RankTimes> RankTimes::From(const Run& run) {
  const Trace& trace = run.trace;
  RankTimes found;
  const Steps steps = OwnTimes(trace);
  const bool calls = CallsInMostSteps(trace) || !trace.ProcessAttribute("speaks_to_one").empty();
  double step_seconds = 0;
  for (const ProcessSummary& process : ProcessesIn(trace)) {
    found.batches[process.rank] = process.batch;
    step_seconds = std::max(step_seconds, process.step_seconds);
  }
  for (const ThingId id : trace.ThingsOfKind(kReplicas)) {
    const Ranks members = MembersNamed(trace.thing(id).name);
    const bool waits = !trace.Attribute(id, "sends_buffers").empty() || calls;
    if (members.size() < 2 || waits || !StepTogether(trace, members)) continue;
    found.groups.push_back(GroupOf(steps, trace.thing(id).name, members));
    found.groups.back().step = step_seconds;
  }
  if (found.groups.empty()) {
    return WhyNotCompared(trace,
                          "no ranks were observed that wait for each other only after backward");
  }
  return found;
}

}  // namespace dlcheck
