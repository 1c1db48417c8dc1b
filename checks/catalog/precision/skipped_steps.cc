#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/step_calls.h"

namespace dlcheck::precision {
namespace {

constexpr Setting kAll{.name = "all",
                       .value = 20,
                       .low = 2,
                       .high = 1e6,
                       .unit = "step calls",
                       .meaning = "fewest calls, all of them left out, that are an error",
                       .source = "own reasoning: a scale of 65,536 is down to 1 after 16 halvings"};
constexpr Setting kCalls{.name = "calls",
                         .value = 200,
                         .low = 20,
                         .high = 1e9,
                         .unit = "step calls",
                         .meaning = "fewest calls of a run whose share is judged",
                         .source = "own reasoning: the share of fewer calls says little"};
constexpr Setting kShare{
    .name = "share",
    .value = 0.1,
    .low = 0.001,
    .high = 1,
    .unit = "1",
    .meaning = "share of the calls that may be left out for no known reason",
    .source = "own reasoning: gradients are seldom not finite at a scale that fits"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepCalls& steps) {
  Verdict verdict{.findings = {}, .judged = Counted(steps.calls, "step call")};
  const auto calls = static_cast<double>(steps.calls);
  const bool all = steps.skipped >= steps.calls && calls >= settings[kAll];
  const auto unexplained = static_cast<double>(steps.skipped - steps.leading - steps.after_growth);
  const bool many = calls >= settings[kCalls] && unexplained > settings[kShare] * calls;
  if (!all && !many) return verdict;
  verdict.findings.push_back(
      {.severity = all ? Severity::kError : Severity::kWarning,
       .message =
           all ? StrCat("All ", Counted(steps.calls, "step call"),
                        " left the weights alone: nothing was trained.")
               : StrCat(WithCommas(steps.skipped), " of ", Counted(steps.calls, "step call"),
                        " left the weights alone; ", WithCommas(steps.leading),
                        " of them before the first that was taken, and ",
                        WithCommas(steps.after_growth), " may follow a growth of the scale."),
       .places = {},
       .first_step = steps.first_skipped,
       .last_step = steps.last_skipped,
       .count = steps.skipped,
       .measured = all ? 1 : unexplained / calls,
       .bound = settings[kShare]});
  return verdict;
}

// Twenty steps of which the first `skipped` are left out; then a gap of 200, with `in_gap` left
// out. If the scale grows, it does so ten times.
Evidence Skipping(int skipped, int in_gap = -1, bool grows = false) {
  constexpr int kSteps = 20;
  RunBuilder run = TwoLayers();
  for (int step = 0; step < kSteps; ++step) {
    run.Event(Event::kForward, 1, "module", "trunk");
    run.Quantity(Quantity::kLossScale, "scaler", "scaler", grows && step % 2 == 1 ? 2048 : 1024);
    run.Event(Event::kBackward, 0, "loss", "cross_entropy").Event(Event::kUnscale, 1024);
    for (const char* name : {"trunk.weight", "head.weight"}) {
      if (step >= skipped) run.Quantity(Quantity::kGradientNorm, "parameter", name, 0.1);
    }
    if (step < skipped) run.Event(Event::kSkipped, 0, "optimizer", "").Resume(step + 1);
    if (step >= skipped) run.Event(Event::kStep, 0, "optimizer", "");
  }
  if (in_gap >= 0) {
    run.Gap(Event::kStep, kSteps + 199, 200 - in_gap);
    run.Gap(Event::kSkipped, kSteps + 199, in_gap);
  }
  return PlainOnly(run);
}

}  // namespace

Check SkippedSteps() {
  return {
      .id = "precision/skipped_steps",
      .promise = "A loss scaler leaves out few steps.",
      .why =
          "A step that is left out trains nothing, and its batch is lost. If all are, gradients "
          "are not finite at any scale: the fault is not the scale.",
      .method =
          "Step calls that left the weights alone, counted over the whole run, less those before "
          "the "
          "first that was taken and one for each growth of the scale, against all step calls.",
      .fix =
          "Find what is not finite with autocast switched off; if nothing is, look for scaler "
          ".update() that is missing or a growth_interval that is too short.",
      .limits =
          "Judges the share of runs of 200 calls or more. Growths between steps that were not "
          "recorded are not known. Steps that an optimizer leaves out inside are not seen.",
      .sources = {"PyTorch documentation of torch.amp.GradScaler", "own reasoning"},
      .covers = {"A10"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kAll, kCalls, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"all but the last", Expect::kClean, [] { return Skipping(19); }},
                   {"all of twenty", Expect::kFaulty, [] { return Skipping(20); }},
                   {"22 of 220 after the first that was taken", Expect::kClean,
                    [] { return Skipping(16, 22); }},
                   {"23 of 220", Expect::kFaulty, [] { return Skipping(16, 23); }},
                   {"32 of 220, where the scale grew ten times", Expect::kClean,
                    [] { return Skipping(16, 32, true); }}},
  };
}

}  // namespace dlcheck::precision
