#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_runs.h"
#include "checks/catalog/separate.h"
#include "checks/engine/reads.h"

namespace dlcheck::distributed {
namespace {

std::string MessageFor(const Replicas::Group& group, size_t parameters, bool by_sampler,
                       const DealtTraining& dealt) {
  return StrCat(
      "Each of ranks ", group.name, " trains a model of its own on its part of the data, ",
      by_sampler ? StrCat("which is dealt to ", dealt.processes, " processes: ")
                 : StrCat("of which none has a row in common with another, and only ",
                          RanksText(dealt.users), " evaluates or saves one: "),
      parameters, " parameters ", BeganAlike(group) ? "that began alike" : "began differently and",
      " step with other gradients on each, and nothing that was seen brings them "
      "together.");
}

absl::StatusOr<Verdict> Judge(const Settings&, const Replicas& replicas,
                              const DealtTraining& dealt) {
  if (dealt.processes < 2 && dealt.apart.empty()) {
    return absl::FailedPreconditionError("the data of training are not dealt to processes");
  }
  Verdict verdict;
  for (const Replicas::Group& group : replicas.groups) {
    if (group.declared) continue;
    const bool by_sampler = static_cast<int64_t>(group.members.size()) == dealt.processes;
    const std::vector<OddParameter> found = Separate(group);
    // Of one that others are shared beside, distributed/unsynchronized_gradients tells.
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
  bool by_sampler = true;     // deals the data
  bool all_evaluate = false;  // where none does: else the first alone
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
      .promise = "Processes that a sampler deals its data to train one model.",
      .why =
          "As many models are trained as there are processes, each on its part of the data, and "
          "one of them is saved. Losses fall, and all processors are busy.",
      .method =
          "Digests of parameters before steps and norms of gradients, compared between processes, "
          "where a DistributedSampler deals them the data that they train on, and no wrapper and "
          "no call of the program puts gradients or weights together. Without such a sampler, "
          "where all begin from the same weights, no two have a row in common in their first pass "
          "over the data, and one process alone evaluates or saves something.",
      .fix =
          "Wrap the model: model = DistributedDataParallel(model), and call what it gives; or put "
          "the gradients together by all_reduce before each step.",
      .limits =
          "Needs torch.distributed. Models that begin differently are not judged where processes "
          "tell each other something in their passes, as parts of one model do. Dealt by hand it "
          "is "
          "a warning, and silent where several evaluate or save. An ensemble whose members take a "
          "part of the data each is found, too: ignore the check there. A warning where processes "
          "call operations together or load weights after the first step, as they may bring "
          "weights "
          "together in a way that is not seen.",
      .sources = {"PyTorch: DistributedSampler, DistributedDataParallel",
                  "own reasoning: what is dealt to processes is meant for one model"},
      .covers = {"X01"},
      .explains = {"distributed/mismatched_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"nothing is shared", Expect::kFaulty, [] { return Training({}); }},
                   {"nothing is shared, from other weights", Expect::kFaulty,
                    [] { return Training({.begins_alike = false}); }},
                   {"nothing is shared of what is dealt by hand", Expect::kFaulty,
                    [] { return Training({.by_sampler = false}); }},
                   {"as that, and each is evaluated", Expect::kClean,
                    [] { return Training({.by_sampler = false, .all_evaluate = true}); }},
                   {"as that, from other weights", Expect::kClean,
                    [] { return Training({.begins_alike = false, .by_sampler = false}); }},
                   {"gradients are shared", Expect::kClean,
                    [] { return Training({.shares = true}); }},
                   {"parts of one model", Expect::kClean,
                    [] { return Training({.begins_alike = false, .speaks = true}); }},
                   {"weights come together", Expect::kClean,
                    [] { return Training({.comes_together = true}); }}},
  };
}

}  // namespace dlcheck::distributed
