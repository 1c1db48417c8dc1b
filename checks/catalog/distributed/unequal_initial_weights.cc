#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_finding.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"

namespace dlcheck::distributed {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Replicas& replicas) {
  Verdict verdict;
  int64_t judged = 0;
  for (const Replicas::Group& group : replicas.groups) {
    if (!group.declared) continue;
    std::vector<OddParameter> found;
    for (const Replicas::Parameter& parameter : group.parameters) {
      const Replicas::State* parted = parameter.Parted();
      judged += parameter.states.front().step == 0;
      if (parted != nullptr && parted->step == 0) found.push_back({&parameter, parted});
    }
    if (found.empty()) continue;
    const Replicas::State& state = *found.front().state;
    verdict.findings.push_back(FindingAbout(
        found, Severity::kError,
        StrCat("Before the first step ", Share(found.size(), group), " of the replicas on ranks ",
               group.name, " are not the same on all of them: ", found.front().parameter->name, " ",
               DifferenceText(state, group), ", and they never become equal."),
        found.front().parameter->states.back().step));
  }
  if (judged == 0) {
    return absl::FailedPreconditionError("no weights are shared by several processes");
  }
  verdict.judged = Counted(judged, "parameter");
  return verdict;
}

// The weights of the second process are off by `other` before the first step, or before all.
Evidence Starting(double other, bool comes_together, std::string_view kind = kReplicas) {
  return PlainOnly(OfRanks({.kind = kind, .step = [=](uint16_t rank, int step) {
    const bool apart = rank == 1 && (step == 0 || !comes_together);
    return RankStep{.weights = step + 1 + (apart ? other : 0)};
  }}));
}

}  // namespace

Check UnequalInitialWeights() {
  return {
      .id = "distributed/unequal_initial_weights",
      .promise = "Replicas hold the same weights before their first step.",
      .why =
          "Equal gradients keep a distance as it is: each process trains another model to the end, "
          "and what is saved is one of them.",
      .method =
          "Digests of all bytes of each parameter before the first step, compared between the "
          "processes of a group: those of a DistributedDataParallel, those that put the gradients "
          "of the parameter together themselves at every step, or those that hold the same piece "
          "of a DTensor, as in hybrid shards.",
      .fix =
          "Load weights on all processes, or on the first before DistributedDataParallel is made, "
          "which then sends them; without it, also before fully_shard, which sends none, "
          "broadcast the parameters of rank 0 before the first step, or seed all processes alike.",
      .limits =
          "Silent where the weights become equal later, as with averages of weights, and where "
          "nothing shows that processes are meant to hold the same. Pieces of weights that one "
          "process alone holds are not compared.",
      .sources = {"PyTorch: DistributedDataParallel sends the state of rank 0 as it is made",
                  "own reasoning: equal digests are necessary for equal bytes"},
      .covers = {"X03"},
      .explains = {"distributed/replica_divergence", "distributed/mismatched_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"equal", Expect::kClean, [] { return Starting(0, false); }},
                   {"another on rank 1", Expect::kFaulty, [] { return Starting(0.5, false); }},
                   {"another copy of a shard", Expect::kFaulty,
                    [] { return Starting(0.5, false, kCopies); }},
                   {"another, then equal", Expect::kClean, [] { return Starting(0.5, true); }}},
  };
}

}  // namespace dlcheck::distributed
