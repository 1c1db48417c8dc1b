#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/catalog/findings/rank_finding.h"
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
    verdict.findings.push_back(
        FindingAbout(found, Severity::kError,
                     StrCat("Before the first step, ", Share(found.size(), group),
                            " differed between the replicas on ranks ", group.name, ": ",
                            found.front().parameter->name, " ", DifferenceText(state, group),
                            ". The replicas never became equal."),
                     found.front().parameter->states.back().step));
  }
  if (judged == 0) {
    return absl::FailedPreconditionError("no ranks hold the same weights");
  }
  verdict.judged = Counted(judged, "parameter");
  return verdict;
}

// The second rank's weights differ by `other` before the first step, or before all.
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
      .title = "Ranks start with different weights",
      .promise = "Replicas hold equal weights before their first step.",
      .why =
          "Equal gradients keep the initial difference. Each rank trains a different model to the "
          "end, and only one of them is saved.",
      .method =
          "Compares hashes of each parameter before the first step across ranks. The ranks use "
          "DDP, all-reduce gradients themselves at every step, or hold copies of one DTensor shard "
          "(hybrid sharding).",
      .fix =
          "Load weights on all ranks, or on rank 0 before DistributedDataParallel broadcasts them. "
          "Without DDP, and before fully_shard, broadcast rank 0's parameters or use the same seed "
          "on all ranks.",
      .limits =
          {.needs = "Two ranks that synchronize gradients or hold copies of a DTensor shard.",
           .silent_when =
               "The weights become equal later, as in weight averaging. Nothing shows that the "
               "ranks should hold the same weights. Shards held by one rank only are not compared.",
           .severity = "",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(torch.manual_seed(dist.get_rank())
model = Net()  # different weights on each rank
loss.backward()
for p in model.parameters():
    dist.all_reduce(p.grad, op=dist.ReduceOp.AVG))",
                 .good = R"(torch.manual_seed(dist.get_rank())
model = Net()
for p in model.parameters():
    dist.broadcast(p.data, src=0)
loss.backward()
for p in model.parameters():
    dist.all_reduce(p.grad, op=dist.ReduceOp.AVG))"},
      .cpp = {},
      .sources = {"PyTorch: DistributedDataParallel broadcasts the state of rank 0 at construction",
                  "own reasoning: equal digests are necessary for equal bytes"},
      .covers = {"unequal-initial-weights"},
      .explains = {"distributed/replica_divergence", "distributed/mismatched_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"equal weights", Expect::kClean, [] { return Starting(0, false); }},
                   {"different weights on rank 1", Expect::kError,
                    [] { return Starting(0.5, false); }},
                   {"a different copy of a shard", Expect::kError,
                    [] { return Starting(0.5, false, kCopies); }},
                   {"different weights that become equal", Expect::kClean,
                    [] { return Starting(0.5, true); }}},
  };
}

}  // namespace dlcheck::distributed
