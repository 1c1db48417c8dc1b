#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_finding.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/signals/rates_by_rank.h"

namespace dlcheck::distributed {
namespace {

// What the processes do differently in the steps before they are known to differ.
std::string Cause(const OddParameter& odd, const RatesByRank* rates) {
  const int64_t before = odd.state->step;
  if (rates != nullptr) {
    const auto found = rates->groups.find(odd.parameter->group);
    if (found != rates->groups.end() && found->second.step < before) {
      const RatesByRank::Difference& differs = found->second;
      return StrCat(" From step ", differs.step, " on the learning rate of ", found->first, " is ",
                    Short(differs.first), " on rank ", differs.first_rank, " and ",
                    Short(differs.other), " on rank ", differs.other_rank, ".");
    }
  }
  return " Their gradients and rates do not differ by more than rounding.";
}

// Parameters that part after the first step, although their gradients are the same.
std::vector<OddParameter> Drifted(const Replicas::Group& group) {
  std::vector<OddParameter> found;
  for (const Replicas::Parameter& parameter : group.parameters) {
    const Replicas::State* parted = parameter.Parted();
    if (parted == nullptr || parted->step == 0) continue;
    const bool is_explained = std::ranges::any_of(
        parameter.unshared,
        [&](const Replicas::State& unshared) { return unshared.step < parted->step; });
    if (!is_explained) found.push_back({&parameter, parted});
  }
  std::ranges::stable_sort(found, {}, [](const OddParameter& odd) { return odd.state->step; });
  return found;
}

// Where the parameter was last the same on all.
std::string BeforeText(const OddParameter& odd) {
  int64_t last = -1;
  for (const Replicas::State& state : odd.parameter->states) {
    if (state.step < odd.state->step) last = state.step;
  }
  return last < 0 ? " was never seen to be the same"
                  : StrCat(" was the same on all before step ", last);
}

absl::StatusOr<Verdict> Judge(const Settings&, const Replicas& replicas,
                              const IfSeen<RatesByRank>& rates) {
  Verdict verdict;
  int64_t judged = 0;
  for (const Replicas::Group& group : replicas.groups) {
    if (!group.declared) continue;
    for (const Replicas::Parameter& parameter : group.parameters) {
      judged += parameter.states.size() > 1;
    }
    const std::vector<OddParameter> found = Drifted(group);
    if (found.empty()) continue;
    const OddParameter& first = found.front();
    verdict.findings.push_back(
        FindingAbout(found, SeverityOf(replicas, *first.parameter),
                     StrCat(Share(found.size(), group), " of the replicas on ranks ", group.name,
                            " drift apart: ", first.parameter->name, BeforeText(first), " and ",
                            DifferenceText(*first.state, group), " before step ", first.state->step,
                            ".", Cause(first, rates.signal)),
                     first.parameter->states.back().step));
  }
  if (judged == 0) {
    return absl::FailedPreconditionError(
        "no weights are shared by several processes that step together");
  }
  verdict.judged = Counted(judged, "parameter");
  return verdict;
}

// The second process has other weights from step `from` on, or does up to step `to`.
Evidence Drifting(int from, int to, double rate = 0.1, std::string_view kind = kReplicas) {
  return PlainOnly(OfRanks({.kind = kind, .step = [=](uint16_t rank, int step) {
    const bool apart = rank == 1 && step >= from && step < to;
    return RankStep{.weights = step + 1 + (apart ? 0.5 : 0), .rate = rank == 1 ? rate : 0.1};
  }}));
}

// The second process has other weights in step 1 and from step 3 on.
Evidence DriftingTwice() {
  return PlainOnly(OfRanks({.step = [](uint16_t rank, int step) {
    const bool apart = rank == 1 && step != 0 && step != 2;
    return RankStep{.weights = step + 1 + (apart ? 0.5 : 0)};
  }}));
}

}  // namespace

Check ReplicaDivergence() {
  return {
      .id = "distributed/replica_divergence",
      .promise = "Replicas that begin equal and step with equal gradients stay equal.",
      .why =
          "The processes train different models; each gradient is a mean over points that are no "
          "longer the same, and what is saved is one of several.",
      .method =
          "Digests of all bytes of each parameter before steps, compared between the processes of "
          "a group: those of a DistributedDataParallel, those that put the gradients of the "
          "parameter together themselves at every step, or those that hold the same piece of a "
          "DTensor, as in hybrid shards. Learning rates are compared for the cause.",
      .fix =
          "Look at what differs between processes after the gradients are shared: learning rates "
          "and schedules, clipping, steps that one process leaves out, weights that one process "
          "writes to, optimizer state that one process loads.",
      .limits =
          "Silent where weights become equal again and again, as averages of them do; a warning "
          "where they did and then part for more than twice as long as ever. Other processors, or "
          "kernels of no fixed order in copies of a DTensor, may round differently, which is "
          "drift, too. Pieces without copies are not compared. Digests are taken in the first "
          "eight steps, then in every eighth of those sampled, of large models at powers of two. "
          "A note where the program shares gradients by a hook of its own, or sends weights "
          "itself.",
      .sources = {"Megatron-LM: check of weights' hashes across data-parallel ranks",
                  "own reasoning: equal arithmetic on equal bytes gives equal bytes"},
      .covers = {"X01", "X04", "X13"},
      .explains = {"distributed/mismatched_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"equal", Expect::kClean, [] { return Drifting(9, 9); }},
                   {"another from the fourth step on", Expect::kFaulty,
                    [] { return Drifting(4, 9); }},
                   {"copies of a shard, equal", Expect::kClean,
                    [] { return Drifting(9, 9, 0.1, kCopies); }},
                   {"copies of a shard, another from the fourth step on", Expect::kFaulty,
                    [] { return Drifting(4, 9, 0.1, kCopies); }},
                   {"at another rate", Expect::kFaulty, [] { return Drifting(1, 9, 0.2); }},
                   {"apart for three steps, as with averages of weights", Expect::kClean,
                    [] { return Drifting(2, 5); }},
                   {"equal once more, and then apart for good", Expect::kFaulty,
                    [] { return DriftingTwice(); }}},
  };
}

}  // namespace dlcheck::distributed
