#include "checks/signals/distributed/replicas.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace dlcheck {
namespace {

// Norms are worked out by each process for itself, on kinds of processors that round in other
// orders.
constexpr double kSameNorm = 1e-5;

// {step: {rank: value}} of a series; of several values in a step, as of several optimizers, the
// last.
template <typename Value, typename Read>
std::map<int64_t, ByRank<Value>> ByStep(std::span<const Sample> series, ThingId owner,
                                        const Read& read) {
  std::map<int64_t, ByRank<Value>> steps;
  for (const Sample& sample : series) {
    if (owner == 0 || sample.owner == owner) steps[sample.step][sample.rank] = read(sample);
  }
  return steps;
}

template <typename Value>
bool HasAll(const ByRank<Value>& values, const Ranks& members) {
  return std::ranges::all_of(members, [&](uint16_t rank) { return values.contains(rank); });
}

std::vector<Replicas::State> StatesOf(const Trace& trace, ThingId parameter, ThingId group,
                                      const Ranks& members) {
  std::vector<Replicas::State> states;
  const auto digest = [](const Sample& sample) { return std::pair(sample.value, sample.aux); };
  const auto steps = ByStep<std::pair<double, double>>(
      trace.Series(Quantity::kReplicaDigest, parameter), group, digest);
  for (const auto& [step, values] : steps) {
    if (HasAll(values, members)) states.push_back({step, OddOnes(values)});
  }
  return states;
}

// Those of a group alone, whose norm is another than the lowest rank's.
Ranks OtherNorms(const ByRank<double>& norms, const Ranks& members) {
  const double first = norms.at(members.front());
  Ranks others;
  for (const uint16_t rank : members) {
    const double norm = norms.at(rank);
    const bool is_same = std::abs(norm - first) <= kSameNorm * std::max(norm, first);
    if (!is_same && !(std::isnan(norm) && std::isnan(first))) others.push_back(rank);
  }
  return others;
}

void CompareGradients(const Trace& trace, ThingId thing, const Ranks& members,
                      Replicas::Parameter& parameter) {
  // Of a copied piece's gradient each process may hold a summand, which the step puts together.
  const bool is_own = !trace.Attribute(thing, "own_gradient").empty();
  const auto norm = [](const Sample& sample) { return sample.value; };
  const std::span<const Sample> series = trace.Series(Quantity::kGradientNorm, thing);
  if (!series.empty()) parameter.optimizer = series.back().owner;
  parameter.handed_round =
      trace.Attribute(parameter.optimizer, "type") == "ZeroRedundancyOptimizer";
  for (const auto& [step, norms] : ByStep<double>(series, 0, norm)) {
    if (is_own || !HasAll(norms, members)) continue;
    ++parameter.compared;
    Ranks others = OtherNorms(norms, members);
    if (!others.empty()) {
      parameter.unshared.push_back({step, std::move(others)});
    } else if (norms.begin()->second > 0) {
      parameter.last_shared = step;
    }
  }
}

// Of the lowest rank, by step.
std::vector<Replicas::Forwards> ForwardsOf(const Trace& trace, ThingId group, uint16_t rank) {
  std::map<int64_t, Replicas::Forwards> steps;
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kSharedForward || event.owner != group || event.rank != rank) {
      continue;
    }
    Replicas::Forwards& step = steps[event.step];
    step.step = event.step;
    ++step.passes;
    step.sharing += event.value != 0;
    step.last_shares = event.value != 0;
  }
  std::vector<Replicas::Forwards> found;
  for (const auto& [number, step] : steps) found.push_back(step);
  return found;
}

// Where processes make steps of their own, or may end an epoch before others, only their beginnings
// are at the same step.
void KeepStart(Replicas::Group& group) {
  group.forwards.clear();
  for (Replicas::Parameter& parameter : group.parameters) {
    std::erase_if(parameter.states, [](const Replicas::State& state) { return state.step > 0; });
    parameter.compared = 0;
    parameter.last_shared = -1;
    parameter.unshared.clear();
  }
  std::erase_if(group.parameters, [](const auto& parameter) { return parameter.states.empty(); });
}

Replicas::Group GroupOf(const Trace& trace, ThingId id, Ranks members) {
  Replicas::Group group{.name = trace.thing(id).name,
                        .members = std::move(members),
                        .declared = trace.thing(id).kind != kPeers,
                        .of_pieces = trace.thing(id).kind == kCopies,
                        .wrapped = !trace.Attribute(id, "wrapped").empty(),
                        .parameters = {},
                        .forwards = {}};
  group.forwards = ForwardsOf(trace, id, group.members.front());
  for (const ThingId thing : trace.ThingsWith(Quantity::kReplicaDigest)) {
    Replicas::Parameter parameter{
        .name = trace.Display(thing),
        .after_wrapping = !trace.Attribute(thing, "after_wrapping").empty(),
        .frozen_at_wrapping = !trace.Attribute(thing, "frozen_at_wrapping").empty(),
        .group = std::string(trace.Attribute(thing, "optimizer")),
        .states = StatesOf(trace, thing, id, group.members),
        .unshared = {}};
    if (parameter.states.empty()) continue;
    CompareGradients(trace, thing, group.members, parameter);
    group.parameters.push_back(std::move(parameter));
  }
  return group;
}

bool MayShareUnseen(const Trace& trace) {
  return std::ranges::any_of(trace.Events(), [&](const Occurrence& event) {
    const bool calls =
        event.event == Event::kCollective && trace.thing(event.thing).name != "barrier";
    const bool loads = event.event == Event::kLoaded && trace.thing(event.thing).kind == "model";
    return event.step > 0 && (calls || loads);
  });
}

bool ReadsFiles(const Trace& trace) {
  std::set<int64_t> steps;
  for (const Occurrence& event : trace.Events()) {
    const bool reads = event.event == Event::kLoaded && trace.thing(event.thing).kind == "file";
    if (reads && event.step > 0) steps.insert(event.step);
  }
  return steps.size() > 1;
}

}  // namespace

const Replicas::State* Replicas::Parameter::Parted() const {
  const State* first = nullptr;  // of the stretch that is looked at
  int64_t longest = 0;           // stretch that ended, in steps
  for (const State& state : states) {
    if (state.odd.empty() && first != nullptr) {
      longest = std::max(longest, state.step - first->step);
      first = nullptr;
    } else if (!state.odd.empty() && first == nullptr) {
      first = &state;
    }
  }
  const bool is_meant = first != nullptr && states.back().step - first->step <= 2 * longest;
  return is_meant && longest > 0 ? nullptr : first;
}

bool Replicas::Parameter::CameTogether() const {
  const auto differs = [](const State& state) { return !state.odd.empty(); };
  const auto first = std::ranges::find_if(states, differs);
  return !std::all_of(first, states.end(), differs);
}

absl::StatusOr<Replicas> Replicas::From(const Run& run) {
  const Trace& trace = run.trace;
  Replicas replicas{.groups = {},
                    .own_sharing = !trace.ProcessAttribute("own_sharing").empty() ||
                                   !trace.ProcessAttribute("sends_weights").empty(),
                    .speaks_in_passes = !trace.ProcessAttribute("speaks_in_passes").empty(),
                    .speaks_in_losses = !trace.ProcessAttribute("speaks_in_losses").empty(),
                    .speaks_to_one = !trace.ProcessAttribute("speaks_to_one").empty(),
                    .may_share_unseen = MayShareUnseen(trace),
                    .reads_files = ReadsFiles(trace)};
  for (const std::string_view kind : {kReplicas, kCopies, kPeers}) {
    for (const ThingId id : trace.ThingsOfKind(kind)) {
      Ranks members = MembersNamed(trace.thing(id).name);
      if (members.size() < 2) continue;
      const bool together = trace.ProcessAttribute("joins").empty() && StepTogether(trace, members);
      Group group = GroupOf(trace, id, std::move(members));
      if (!together) KeepStart(group);
      if (!group.parameters.empty()) replicas.groups.push_back(std::move(group));
    }
  }
  if (replicas.groups.empty()) {
    return WhyNotCompared(trace, "no two ranks trained the same parameters");
  }
  return replicas;
}

}  // namespace dlcheck
