#include <algorithm>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/catalog/findings/rank_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/distributed/rates_by_rank.h"

namespace dlcheck::distributed {
namespace {

// What differs between the ranks in the steps before their weights differ.
std::string Cause(const OddParameter& odd, const RatesByRank* rates) {
  const int64_t before = odd.state->step;
  if (rates != nullptr) {
    const auto found = rates->groups.find(odd.parameter->group);
    if (found != rates->groups.end() && found->second.step < before) {
      const RatesByRank::Difference& differs = found->second;
      return StrCat(" From step ", differs.step, " on, the learning rate of ", found->first,
                    " was ", Short(differs.first), " on rank ", differs.first_rank, " and ",
                    Short(differs.other), " on rank ", differs.other_rank, ".");
    }
  }
  return " Gradients and learning rates differed by no more than rounding.";
}

// Parameters that diverge after the first step, although their gradients are equal.
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

// The last step before which the parameter was equal on all ranks.
std::string BeforeText(const OddParameter& odd) {
  int64_t last = -1;
  for (const Replicas::State& state : odd.parameter->states) {
    if (state.step < odd.state->step) last = state.step;
  }
  return last < 0 ? " was never equal on all ranks"
                  : StrCat(" was equal on all ranks before step ", last);
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
                     StrCat(Share(found.size(), group), " diverged between the replicas on ranks ",
                            group.name, ": ", first.parameter->name, BeforeText(first), " and ",
                            DifferenceText(*first.state, group), " before step ", first.state->step,
                            ".", Cause(first, rates.signal)),
                     first.parameter->states.back().step));
  }
  if (judged == 0) {
    return absl::FailedPreconditionError("no ranks that step together hold the same weights");
  }
  verdict.judged = Counted(judged, "parameter");
  return verdict;
}

// The second rank has different weights from step `from` up to step `to`.
Evidence Drifting(int from, int to, double rate = 0.1, std::string_view kind = kReplicas) {
  return PlainOnly(OfRanks({.kind = kind, .step = [=](uint16_t rank, int step) {
                              const bool apart = rank == 1 && step >= from && step < to;
                              return RankStep{.weights = step + 1 + (apart ? 0.5 : 0),
                                              .rate = rank == 1 ? rate : 0.1};
                            }}));
}

// The second rank has different weights in step 1 and from step 3 on.
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
      .title = "Model replicas diverge during training",
      .promise = "Replicas that start equal and step with equal gradients stay equal.",
      .why =
          "The ranks train different models. Each gradient is a mean over different weights, and "
          "only one of the models is saved.",
      .method =
          "Compares hashes of each parameter before steps across ranks. The ranks use DDP, "
          "all-reduce gradients themselves at every step, or hold copies of one DTensor shard "
          "(hybrid sharding). Compares learning rates to find the cause.",
      .fix =
          "Look for differences between ranks after gradient synchronization: learning rates, "
          "schedules, clipping or a skipped step. Look for weights written or optimizer state "
          "loaded on one rank only.",
      .limits = {.needs = "Two ranks that synchronize gradients or hold copies of a DTensor shard.",
                 .silent_when = "Weights become equal again and again, as in weight averaging. "
                                "Shards without copies are not compared.",
                 .severity = "Error. Warning if replicas became equal before and now stay apart "
                             "more than twice their longest gap. Note with a custom gradient hook "
                             "or weights that the program sends itself.",
                 .blind_spots =
                     "Different hardware or nondeterministic kernels in DTensor copies may round "
                     "differently, which also counts. Hashes cover the first eight steps, then "
                     "every eighth sampled step; for large models, steps that are powers of two.",
                 .sensitivity = ""},
      .python = {.bad = R"(model = DistributedDataParallel(model)
lr = 0.1 / (1 + dist.get_rank())
optimizer = torch.optim.SGD(model.parameters(), lr=lr)
train(model, optimizer))",
                 .good = R"(model = DistributedDataParallel(model)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
train(model, optimizer))"},
      .cpp = {},
      .sources = {"Megatron-LM: check of weights' hashes across data-parallel ranks",
                  "own reasoning: equal arithmetic on equal bytes gives equal bytes"},
      .covers = {"bypassed-ddp-wrapper", "diverging-replicated-parameters",
                 "hidden-unused-parameters"},
      .explains = {"distributed/mismatched_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"equal replicas", Expect::kClean, [] { return Drifting(9, 9); }},
                   {"different from the fourth step on", Expect::kError,
                    [] { return Drifting(4, 9); }},
                   {"equal copies of a shard", Expect::kClean,
                    [] { return Drifting(9, 9, 0.1, kCopies); }},
                   {"copies of a shard, different from the fourth step on", Expect::kError,
                    [] { return Drifting(4, 9, 0.1, kCopies); }},
                   {"different learning rates", Expect::kError, [] { return Drifting(1, 9, 0.2); }},
                   {"different for three steps, as in weight averaging", Expect::kClean,
                    [] { return Drifting(2, 5); }},
                   {"equal once more, then different to the end", Expect::kWarning,
                    [] { return DriftingTwice(); }}},
  };
}

}  // namespace dlcheck::distributed
