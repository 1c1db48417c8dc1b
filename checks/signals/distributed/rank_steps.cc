#include "checks/signals/distributed/rank_steps.h"

#include <utility>

#include "checks/engine/processes.h"
#include "checks/engine/whole.h"

namespace dlcheck {
namespace {

ByRank<RankSteps::Process> ProcessesOf(const Trace& trace) {
  // The C++ probe writes a step that was skipped as one of each kind.
  const bool is_python = !trace.ProcessAttribute("python").empty();
  ByRank<RankSteps::Process> processes;
  for (const Occurrence& event : trace.Events()) {
    RankSteps::Process& process = processes[event.rank];
    const auto count = Whole(event.count);
    if (event.event == Event::kBackward) {
      process.backwards += count;
      if (event.gap) continue;
      process.in_a_step = true;
      process.last_backward = event.site;
    } else if (event.event == Event::kEvaluationBegan) {
      process.evaluations += count;
    } else if (event.event == Event::kStep || event.event == Event::kSkipped) {
      process.steps += count;
      if (event.event == Event::kStep) process.taken[event.thing] += count;
      if (event.event == Event::kSkipped && !is_python) process.taken[event.thing] -= count;
      if (!event.gap) process.in_a_step = false;
    }
  }
  for (auto& [rank, process] : processes) process.ended = EndOf(trace, rank);
  return processes;
}

std::set<ThingId> OptimizersOf(const Trace& trace, ThingId group) {
  std::set<ThingId> optimizers;
  for (const ThingId parameter : trace.ThingsWith(Quantity::kReplicaDigest)) {
    const auto& digests = trace.Series(Quantity::kReplicaDigest, parameter);
    if (digests.empty() || digests.front().owner != group) continue;
    for (const Sample& norm : trace.Series(Quantity::kGradientNorm, parameter)) {
      optimizers.insert(norm.owner);
    }
  }
  return optimizers;
}

// Steps that are only counted are not told apart by their optimizer: those of the only one are its
// own.
void AddCounted(const ByRank<RankSteps::Process>& processes, RankSteps::Group& group) {
  std::set<ThingId> all;
  for (const auto& [rank, process] : processes) {
    for (const auto& [optimizer, taken] : process.taken) all.insert(optimizer);
  }
  if (!all.contains(0)) return;
  if (all.size() > 2) return group.optimizers.clear();
  for (auto& [rank, process] : group.processes) {
    const auto counted = process.taken.find(0);
    const int64_t more = counted == process.taken.end() ? 0 : counted->second;
    for (const ThingId optimizer : group.optimizers) process.taken[optimizer] += more;
  }
}

}  // namespace

absl::StatusOr<RankSteps> RankSteps::From(const Run& run) {
  const Trace& trace = run.trace;
  RankSteps found{.groups = {}, .joins = !trace.ProcessAttribute("joins").empty(), .trace = &trace};
  const ByRank<Process> processes = ProcessesOf(trace);
  for (const ThingId id : trace.ThingsOfKind(kReplicas)) {
    Group group{
        .name = trace.thing(id).name, .processes = {}, .optimizers = OptimizersOf(trace, id)};
    for (const uint16_t rank : MembersNamed(group.name)) {
      const auto process = processes.find(rank);
      if (process != processes.end()) group.processes.insert(*process);
    }
    AddCounted(processes, group);
    if (group.processes.size() > 1) found.groups.push_back(std::move(group));
  }
  if (found.groups.empty()) {
    return WhyNotCompared(trace, "no weights are replicated on several ranks");
  }
  return found;
}

}  // namespace dlcheck
