#include "checks/catalog/clip_runs.h"
#include "checks/catalog/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/norm_clips.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 96,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest clipped steps that a finding rests on",
                         .source = "own reasoning: the first steps alone say little"};
constexpr Setting kShare{.name = "share",
                         .value = 0.99,
                         .low = 0,
                         .high = 1,
                         .unit = "1",
                         .meaning = "share of clipped steps at the bound",
                         .source = "95 % is usual in language models; own reasoning"};
// A clipped norm is the bound up to rounding.
constexpr double kReached = 0.999;

absl::StatusOr<Verdict> Judge(const Settings& settings, const NormClips& clips) {
  const auto judged = static_cast<int64_t>(clips.steps.size());
  Verdict verdict{.findings = {}, .judged = Counted(judged, "clipped step")};
  std::vector<int64_t> reached;
  for (const NormClips::Step& step : clips.steps) {
    if (step.norm >= kReached * step.bound) reached.push_back(step.step);
  }
  const double share = static_cast<double>(reached.size()) / static_cast<double>(judged);
  if (static_cast<double>(judged) < settings[kSteps]) return verdict;
  if (share < settings[kShare]) return verdict;
  verdict.findings.push_back(FindingOver(
      reached, Severity::kNote,
      StrCat("At ", reached.size(), " of ", Counted(judged, "clipped step"),
             " the gradients had exactly the norm that clipping leaves: it is always active."),
      {}, share, settings[kShare]));
  return verdict;
}

}  // namespace

Check AlwaysClipped() {
  return {
      .id = "gradients/always_clipped",
      .promise = "Clipping changes some steps and leaves others as they are.",
      .why =
          "The rate is no longer what sets the size of a step: each gradient is scaled to the "
          "bound, and what "
          "the loss says of its size is lost.",
      .method =
          "The norm of the gradients that clipped steps consumed: at nearly all of them it is the "
          "bound "
          "itself, so that each was cut.",
      .fix =
          "Raise the bound, or lower the rate; print the norm that clip_grad_norm_ returns to see "
          "how far "
          "off it is.",
      .limits =
          "Language models are clipped at every step on purpose: hence a note. Runs of several "
          "optimizers "
          "are not judged.",
      .sources = {"own reasoning"},
      .covers = {"C02"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kSteps, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"nine of ten steps at the bound", Expect::kClean,
                    [] { return ClippedSteps(180); }},
                   {"all at the bound", Expect::kFaulty, [] { return ClippedSteps(200); }}},
  };
}

}  // namespace dlcheck::gradients
