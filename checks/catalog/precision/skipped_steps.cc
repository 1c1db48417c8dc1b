#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/precision/step_calls.h"

namespace dlcheck::precision {
namespace {

constexpr Setting kAll{.name = "all",
                       .value = 20,
                       .low = 2,
                       .high = 1e6,
                       .unit = "step calls",
                       .meaning = "fewest calls, all skipped, for an error",
                       .source = "own reasoning: a scale of 65,536 is down to 1 after 16 halvings"};
constexpr Setting kCalls{.name = "calls",
                         .value = 200,
                         .low = 20,
                         .high = 1e9,
                         .unit = "step calls",
                         .meaning = "fewest calls of a run for judging the share",
                         .source = "own reasoning: the share of fewer calls says little"};
constexpr Setting kShare{
    .name = "share",
    .value = 0.1,
    .low = 0.001,
    .high = 1,
    .unit = "1",
    .meaning = "largest share of calls skipped without a known reason",
    .source = "own reasoning: gradients are rarely non-finite at a suitable scale"};

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
                        " were skipped: nothing was trained.")
               : StrCat(WithCommas(steps.skipped), " of ", Counted(steps.calls, "step call"),
                        " were skipped: ", WithCommas(steps.leading),
                        " before the first taken step, and at most ",
                        WithCommas(steps.after_growth), " after a growth of the loss scale."),
       .places = {},
       .first_step = steps.first_skipped,
       .last_step = steps.last_skipped,
       .count = steps.skipped,
       .measured = all ? 1 : unexplained / calls,
       .bound = settings[kShare]});
  return verdict;
}

// Twenty steps of which the first `skipped` are skipped; then a gap of 200 with `in_gap` skipped
// ones. If the scale grows, it does so ten times.
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
      .title = "The loss scaler skips many steps",
      .promise = "A loss scaler skips few steps.",
      .why =
          "A skipped step trains nothing, and its batch is lost. If all steps are skipped, "
          "gradients are non-finite at any scale, so the scale is not the cause.",
      .method =
          "Counts the skipped step calls of the whole run. Subtracts those before the first taken "
          "step and one for each growth of the scale. Compares the rest with all step calls.",
      .fix =
          "Find the non-finite value with autocast disabled. If all values are finite, look for a "
          "missing scaler.update() or a growth_interval that is too short.",
      .limits =
          {.needs = "A loss scaler. The share of skipped steps is judged only in runs of at least "
                    "200 step calls.",
           .silent_when = "",
           .severity =
               "Error if all steps are skipped; warning if more than the allowed share is skipped.",
           .blind_spots = "Growths of the scale between unrecorded steps are unknown. Steps that "
                          "an optimizer skips internally are not recorded.",
           .sensitivity = ""},
      .python = {.bad = R"(scaler.scale(loss).backward()
scaler.step(optimizer)
optimizer.zero_grad()  # scaler.update() is missing)",
                 .good = R"(scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
optimizer.zero_grad())"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.amp.GradScaler", "own reasoning"},
      .covers = {"collapsed-loss-scale"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .also_at = {Event::kLossComputed},
      .settings = {kAll, kCalls, kShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"all but the last skipped", Expect::kClean, [] { return Skipping(19); }},
                   {"all of twenty skipped", Expect::kError, [] { return Skipping(20); }},
                   {"22 of 220 skipped after the first taken step", Expect::kClean,
                    [] { return Skipping(16, 22); }},
                   {"23 of 220 skipped", Expect::kWarning, [] { return Skipping(16, 23); }},
                   {"32 of 220 skipped, with ten growths of the scale", Expect::kClean,
                    [] { return Skipping(16, 32, true); }}},
  };
}

}  // namespace dlcheck::precision
