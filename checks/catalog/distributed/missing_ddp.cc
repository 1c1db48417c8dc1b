#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "checks/catalog/findings/separate.h"
#include "checks/engine/reads.h"

namespace dlcheck::distributed {
namespace {

std::string MessageFor(const Replicas::Group& group, size_t parameters, bool by_sampler,
                       const DealtTraining& dealt) {
  return StrCat(
      "Ranks ", group.name, " train separate models on separate shards of the data (",
      by_sampler ? StrCat("sharded across ", dealt.processes, " ranks by a DistributedSampler")
                 : StrCat("no two ranks have a row in common, and only ", RanksText(dealt.users),
                          " evaluates or saves"),
      "). ", parameters, " parameters ", BeganAlike(group) ? "started equal" : "started different",
      " and step with different gradients on each rank; no synchronization was recorded.");
}

absl::StatusOr<Verdict> Judge(const Settings&, const Replicas& replicas,
                              const DealtTraining& dealt) {
  if (dealt.processes < 2 && dealt.apart.empty()) {
    return absl::FailedPreconditionError("the training data is not sharded across ranks");
  }
  Verdict verdict;
  for (const Replicas::Group& group : replicas.groups) {
    if (group.declared) continue;
    const bool by_sampler = static_cast<int64_t>(group.members.size()) == dealt.processes;
    const std::vector<OddParameter> found = Separate(group);
    // If other parameters are synchronized, distributed/unsynchronized_gradients reports it.
    if (!(by_sampler || IsDealtByHand(group, replicas, dealt)) || replicas.groups.size() > 1 ||
        found.size() < 2 || IsOneModel(group, replicas)) {
      continue;
    }
    verdict.findings.push_back(FindingAbout(
        found, by_sampler && !replicas.may_share_unseen ? Severity::kError : Severity::kWarning,
        MessageFor(group, found.size(), by_sampler, dealt),
        found.front().parameter->states.back().step));
  }
  verdict.judged = Counted(static_cast<int64_t>(replicas.groups.size()), "group");
  return verdict;
}

struct Separately {
  bool shares = false, begins_alike = true, speaks = false, comes_together = false;
  bool by_sampler = true;     // shards the data
  bool all_evaluate = false;  // without a sampler; else only the first rank
};

void DealByHand(const Separately& how, RunBuilder& run) {
  for (const uint16_t rank : {0, 1}) {
    run.Rank(rank).Owner("ranks", "0-1");
    for (int row = 0; row < 64; ++row) {
      run.Quantity(Quantity::kRowSketch, "rows", "", row + 0.5 * rank);
    }
    if (rank == 0 || how.all_evaluate) run.Event(Event::kEvaluationForward);
  }
}

Evidence Training(const Separately& how) {
  RunBuilder run =
      OfRanks({.kind = kPeers, .step = [=](uint16_t rank, int step) {
                 const bool together = how.shares || (how.comes_together && step % 4 == 0);
                 const bool apart = rank == 1 && !together && (step > 0 || !how.begins_alike);
                 return RankStep{.weights = step + 1 + (apart ? 0.5 : 0),
                                 .gradient = rank == 1 && !how.shares ? 0.12 : 0.1,
                                 .fetches = true};
               }});
  if (how.by_sampler) {
    run.Attribute("loader", "", "dealt_to", "2");
  } else {
    DealByHand(how, run);
  }
  if (how.speaks) run.Process("speaks_in_passes", "1");
  return PlainOnly(run);
}

}  // namespace

Check MissingDdp() {
  return {
      .id = "distributed/missing_ddp",
      .title = "The model is not wrapped in DDP",
      .promise = "Ranks that shard one data set train one model.",
      .why =
          "Each rank trains its own model on its own shard of the data, and only one model is "
          "saved. Losses still fall, and all devices are busy.",
      .method =
          "Compares parameter hashes and gradient norms across ranks. A DistributedSampler shards "
          "the data, but nothing synchronizes gradients or weights. Without a sampler, ranks start "
          "with equal weights and share no row in their first pass. Only one rank then evaluates "
          "or saves.",
      .fix =
          "Wrap the model with model = DistributedDataParallel(model) and call the wrapped model. "
          "Or all-reduce the gradients before each step.",
      .limits =
          {.needs = "torch.distributed with two ranks.",
           .silent_when =
               "Models that start different and communicate in their passes, as parts of one model "
               "do. Data sharded by hand if several ranks evaluate or save.",
           .severity =
               "Error. Warning if the data is sharded by hand. Warning if ranks call collectives "
               "or load weights after the first step, which may synchronize weights unrecorded.",
           .blind_spots = "An ensemble whose ranks each train on one shard of the data is also "
                          "reported; ignore the check there.",
           .sensitivity = ""},
      .python = {.bad = R"(sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=64, sampler=sampler)
model = Net().to(device)
train(model, loader))",
                 .good = R"(sampler = DistributedSampler(dataset)
loader = DataLoader(dataset, batch_size=64, sampler=sampler)
model = DistributedDataParallel(Net().to(device))
train(model, loader))"},
      .cpp = {},
      .sources = {"PyTorch: DistributedSampler, DistributedDataParallel",
                  "own reasoning: data sharded across ranks is intended for one model"},
      .covers = {"bypassed-ddp-wrapper"},
      .explains = {"distributed/mismatched_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no synchronization", Expect::kError, [] { return Training({}); }},
                   {"no synchronization, from different weights", Expect::kError,
                    [] { return Training({.begins_alike = false}); }},
                   {"no synchronization, with data sharded by hand", Expect::kWarning,
                    [] { return Training({.by_sampler = false}); }},
                   {"data sharded by hand, and every rank evaluates", Expect::kClean,
                    [] { return Training({.by_sampler = false, .all_evaluate = true}); }},
                   {"data sharded by hand, from different weights", Expect::kClean,
                    [] { return Training({.begins_alike = false, .by_sampler = false}); }},
                   {"synchronized gradients", Expect::kClean,
                    [] { return Training({.shares = true}); }},
                   {"parts of one model", Expect::kClean,
                    [] { return Training({.begins_alike = false, .speaks = true}); }},
                   {"weights that become equal again", Expect::kClean,
                    [] { return Training({.comes_together = true}); }}},
  };
}

}  // namespace dlcheck::distributed
