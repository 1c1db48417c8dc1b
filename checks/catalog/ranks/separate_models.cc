#include <algorithm>

#include "checks/catalog/example_runs.h"
#include "checks/catalog/rank_finding.h"
#include "checks/catalog/rank_runs.h"
#include "checks/engine/reads.h"
#include "checks/signals/dealt_training.h"

namespace dlcheck::ranks {
namespace {

using Parameter = Replicas::Parameter;

bool BeganAlike(const Parameter& parameter) {
  return parameter.states.front().step == 0 && parameter.states.front().odd.empty();
}

// Every parameter that took a gradient parts, or was apart from the beginning, and no step had the
// same gradients.
std::vector<OddParameter> Separate(const Replicas::Group& group) {
  std::vector<OddParameter> found;
  for (const Parameter& parameter : group.parameters) {
    if (parameter.compared == 0) continue;
    const Replicas::State* parted = parameter.Parted();
    if (parted == nullptr || parameter.CameTogether() || parameter.last_shared >= 0) return {};
    found.push_back({&parameter, parted});
  }
  return found;
}

// Weights may come together in ways of the program's own; and what began differently may be the
// parts of one model, if processes tell each other anything.
bool IsOneModel(const Replicas::Group& group, const Replicas& replicas) {
  return replicas.own_sharing || replicas.speaks_to_one || replicas.reads_files ||
         (replicas.speaks_in_passes && !std::ranges::all_of(group.parameters, BeganAlike));
}

absl::StatusOr<Verdict> Judge(const Settings&, const Replicas& replicas,
                              const DealtTraining& dealt) {
  if (dealt.processes < 2) {
    return absl::FailedPreconditionError("the data of training are not dealt to processes");
  }
  Verdict verdict;
  for (const Replicas::Group& group : replicas.groups) {
    if (group.declared) continue;
    const bool is_dealt_to_it = static_cast<int64_t>(group.members.size()) == dealt.processes;
    const std::vector<OddParameter> found = Separate(group);
    // Of one that others are shared beside, ranks/unshared_gradients tells.
    if (!is_dealt_to_it || replicas.groups.size() > 1 || found.size() < 2 ||
        IsOneModel(group, replicas)) {
      continue;
    }
    const bool alike = std::ranges::all_of(group.parameters, BeganAlike);
    verdict.findings.push_back(FindingAbout(
        found, replicas.may_share_unseen ? Severity::kWarning : Severity::kError,
        StrCat(
            "Each of ranks ", group.name, " trains a model of its own on its part of the data, ",
            "which is dealt to ", dealt.processes, " processes: ", found.size(), " parameters ",
            alike ? "that began alike" : "began differently and",
            " step with other gradients on each, and nothing that was seen brings them together."),
        found.front().parameter->states.back().step));
  }
  verdict.judged = Counted(static_cast<int64_t>(replicas.groups.size()), "group");
  return verdict;
}

struct Separately {
  bool shares = false, begins_alike = true, speaks = false, comes_together = false;
};

Evidence Training(const Separately& how) {
  RunBuilder run =
      OfRanks({.kind = kPeers, .step = [=](uint16_t rank, int step) {
                 const bool together = how.shares || (how.comes_together && step % 4 == 0);
                 const bool apart = rank == 1 && !together && (step > 0 || !how.begins_alike);
                 return RankStep{.weights = step + 1 + (apart ? 0.5 : 0),
                                 .gradient = rank == 1 && !how.shares ? 0.12 : 0.1,
                                 .fetches = true};
               }});
  run.Attribute("loader", "", "dealt_to", "2");
  if (how.speaks) run.Process("speaks_in_passes", "1");
  return PlainOnly(run);
}

}  // namespace

Check SeparateModels() {
  return {
      .id = "ranks/separate_models",
      .promise = "Processes that a sampler deals its data to train one model.",
      .why =
          "As many models are trained as there are processes, each on its part of the data, and "
          "one of them is saved. Losses fall, and all processors are busy.",
      .method =
          "Digests of parameters before steps and norms of gradients, compared between processes, "
          "where a DistributedSampler deals them the data that they train on, and no wrapper and "
          "no call of the program puts gradients or weights together.",
      .fix =
          "Wrap the model: model = DistributedDataParallel(model), and call what it gives; or put "
          "the gradients together by all_reduce before each step.",
      .limits =
          "Needs a DistributedSampler that deals to all processes, and torch.distributed. Models "
          "that begin differently are not judged where processes tell each other something in "
          "their passes, as parts of one model do. An ensemble whose members take a part of the "
          "data each is found, too: ignore the check there. A warning where processes call "
          "operations together or load weights after the first step, as they may bring weights "
          "together in a way that is not seen.",
      .sources = {"PyTorch: DistributedSampler, DistributedDataParallel",
                  "own reasoning: what is dealt to processes is meant for one model"},
      .covers = {"X01"},
      .explains = {"ranks/other_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"nothing is shared", Expect::kFaulty, [] { return Training({}); }},
                   {"nothing is shared, from other weights", Expect::kFaulty,
                    [] { return Training({.begins_alike = false}); }},
                   {"gradients are shared", Expect::kClean,
                    [] { return Training({.shares = true}); }},
                   {"parts of one model", Expect::kClean,
                    [] { return Training({.begins_alike = false, .speaks = true}); }},
                   {"weights come together", Expect::kClean,
                    [] { return Training({.comes_together = true}); }}},
  };
}

}  // namespace dlcheck::ranks
