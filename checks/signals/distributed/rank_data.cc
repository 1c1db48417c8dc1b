#include "checks/signals/distributed/rank_data.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace dlcheck {
namespace {

using Digest = std::pair<double, double>;
using ModelStep =
    std::tuple<ThingId, int64_t, uint16_t>;  // of a model or generator: step, micro-step

std::map<ModelStep, ByRank<Digest>> DigestsOf(const Trace& trace, Quantity quantity) {
  std::map<ModelStep, ByRank<Digest>> found;
  for (const ThingId thing : trace.ThingsWith(quantity)) {
    for (const Sample& sample : trace.Series(quantity, thing)) {
      found[{thing, sample.step, sample.micro_step}][sample.rank] = {sample.value, sample.aux};
    }
  }
  return found;
}

// The largest set of members with one digest; empty where one is missing or all are different.
Ranks Alike(const ByRank<Digest>& digests, const Ranks& members) {
  std::map<Digest, Ranks> by_digest;
  for (const uint16_t rank : members) {
    const auto found = digests.find(rank);
    if (found == digests.end()) return {};
    by_digest[found->second].push_back(rank);
  }
  const auto most = std::ranges::max_element(by_digest, {},
                                             [](const auto& entry) { return entry.second.size(); });
  return most->second.size() > 1 ? most->second : Ranks();
}

bool HasAll(const ByRank<Digest>& digests, const Ranks& members) {
  return std::ranges::all_of(members, [&](uint16_t rank) { return digests.contains(rank); });
}

// The losses of a step and micro-step by rank.
std::map<std::pair<int64_t, uint16_t>, ByRank<double>> LossesOf(const Trace& trace) {
  std::map<std::pair<int64_t, uint16_t>, ByRank<double>> losses;
  for (const ThingId thing : trace.ThingsWith(Quantity::kLoss)) {
    for (const Sample& sample : trace.Series(Quantity::kLoss, thing)) {
      losses[{sample.step, sample.micro_step}][sample.rank] = sample.value;
    }
  }
  return losses;
}

bool AreEqual(const ByRank<double>& losses, const Ranks& ranks) {
  const auto first = losses.find(ranks.front());
  return first != losses.end() && std::ranges::all_of(ranks, [&](uint16_t rank) {
           const auto found = losses.find(rank);
           return found != losses.end() && found->second == first->second;
         });
}

// Some parameters are those of each process alone, as where each holds a part of a layer: then all
// may be meant to work on the same data.
bool HasPeers(const Trace& trace) {
  for (const ThingId parameter : trace.ThingsWith(Quantity::kReplicaDigest)) {
    for (const Sample& sample : trace.Series(Quantity::kReplicaDigest, parameter)) {
      if (trace.thing(sample.owner).kind == kPeers) return true;
    }
  }
  return false;
}

void CompareBatches(const Trace& trace, RankData::Group& group) {
  const auto losses = LossesOf(trace);
  std::set<Digest> inputs;
  for (const auto& [place, digests] : DigestsOf(trace, Quantity::kBatchFingerprint)) {
    if (!HasAll(digests, group.members)) continue;
    ++group.passes;
    const Ranks alike = Alike(digests, group.members);
    if (alike.empty()) continue;
    const auto [thing, step, micro_step] = place;
    if (group.same_passes == 0) group.same = alike, group.first_step = step;
    if (group.same != alike) continue;
    ++group.same_passes;
    group.last_step = step;
    inputs.insert(digests.at(alike.front()));
    const auto of_step = losses.find({step, micro_step});
    group.same_losses =
        group.same_losses && of_step != losses.end() && AreEqual(of_step->second, alike);
  }
  group.same_inputs = static_cast<int64_t>(inputs.size());
}

void CompareDraws(const Trace& trace, RankData::Group& group) {
  for (const auto& [place, digests] : DigestsOf(trace, Quantity::kDrawnMasks)) {
    if (!HasAll(digests, group.members)) continue;
    ++group.draws;
    const Ranks alike = Alike(digests, group.members);
    if (alike.empty()) continue;
    ++group.same_draws;
    group.same_drawers = alike;
  }
}

}  // namespace

absl::StatusOr<RankData> RankData::From(const Run& run) {
  const Trace& trace = run.trace;
  RankData data;
  const bool shares_a_part = HasPeers(trace);
  for (const ThingId id : trace.ThingsOfKind(kReplicas)) {
    Ranks members = MembersNamed(trace.thing(id).name);
    if (members.size() < 2 || !StepTogether(trace, members) ||
        (shares_a_part && trace.Attribute(id, "wrapped").empty()))
      continue;
    Group group{.name = trace.thing(id).name, .members = std::move(members)};
    CompareBatches(trace, group);
    group.rows = MostCommonRows(trace, group.members);
    CompareDraws(trace, group);
    data.groups.push_back(std::move(group));
  }
  if (data.groups.empty()) {
    return WhyNotCompared(
        trace,
        shares_a_part
            ? "some parameters differ by rank, as in tensor parallelism, so ranks may share data"
            : "no model is replicated on ranks that step together");
  }
  const std::vector<ThingId> loaders = trace.ThingsOfKind("loader");
  data.orders_of_their_own = loaders.empty() || std::ranges::any_of(loaders, [&](ThingId loader) {
                               return trace.Attribute(loader, "order") == "random";
                             });
  return data;
}

}  // namespace dlcheck
