#include "checks/catalog/example_runs.h"
#include "checks/catalog/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/clipped_shares.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps with clipping that a finding rests on",
                         .source = "own reasoning: all of them have to agree"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const ClippedShares& shares) {
  Verdict verdict;
  int64_t judged = 0;
  for (const ClippedShares::Optimizer& optimizer : shares.optimizers) {
    const auto count = static_cast<int64_t>(optimizer.steps.size());
    judged += count;
    const bool always = optimizer.in_part.size() == optimizer.steps.size();
    if (!always || static_cast<double>(count) < settings[kSteps]) continue;
    verdict.findings.push_back(FindingOver(
        optimizer.in_part, shares.declared == "all" ? Severity::kError : Severity::kNote,
        StrCat("In all ", Counted(count, "sampled step"), " with clipping, fewer gradients were ",
               "clipped than ", optimizer.name, " consumed: ", Short(optimizer.clipped), " of ",
               Short(optimizer.consumed), " at step ", optimizer.in_part.back(), "."),
        {{.thing = optimizer.name, .file = ""}}, optimizer.clipped, optimizer.consumed));
  }
  verdict.judged = Counted(judged, "sampled step") + " with clipping";
  return verdict;
}

// Steps of which the last clips `last` of two gradients, the others one.
Evidence Clipping(double last, bool declared) {
  RunBuilder run = TwoLayers();
  if (declared) run.Process("declared.clip", "all");
  for (int step = 0; step < 10; ++step) {
    run.Quantity(Quantity::kClippedParameters, "optimizer", "optimizer#0", step == 9 ? last : 1, 2);
    AddStep(run, {.held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check PartialClip() {
  return {
      .id = "gradients/partial_clip",
      .promise = "Clipping reaches all gradients that a step uses.",
      .why =
          "Gradients that are left out keep their size, so that one bad batch still moves them "
          "far, "
          "and the bound is not the norm of the update that it seems to be.",
      .method =
          "How many of the parameters whose gradients each sampled step consumed had been clipped "
          "since the step before.",
      .fix =
          "Clip the parameters of the optimizer: those of all its groups, and of every model that "
          "it holds.",
      .limits =
          "A note, as clipping a part of a model may be meant, and an error where declared.clip "
          "is all. Steps without any clipping are not judged.",
      .sources = {"PyTorch documentation of torch.nn.utils.clip_grad_norm_", "own reasoning"},
      .covers = {"C03"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"all in one of ten steps", Expect::kClean, [] { return Clipping(2, true); }},
                   {"half in every step", Expect::kFaulty, [] { return Clipping(1, false); }},
                   {"the same, declared otherwise", Expect::kFaulty,
                    [] { return Clipping(1, true); }}},
  };
}

}  // namespace dlcheck::gradients
