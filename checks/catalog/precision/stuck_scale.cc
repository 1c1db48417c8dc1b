#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss_scaling.h"

namespace dlcheck::precision {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossScaling& scaling) {
  std::vector<int64_t> stuck;
  double scale = 0;
  int64_t judged = 0;
  for (const LossScaling::Step& step : scaling.steps) {
    // At a scale of 1 there is nothing left to lower.
    if (step.taken || !step.overflowed || step.next_scale == 0 || step.scale <= 1) continue;
    ++judged;
    if (step.next_scale < step.scale) continue;
    if (stuck.empty()) scale = step.scale;
    stuck.push_back(step.step);
  }
  if (judged == 0) {
    return absl::FailedPreconditionError(
        "no sampled step was left out because of gradients that are not finite");
  }
  const bool declared = scaling.declared_interval > 0;
  if (!declared && !scaling.Grows()) {
    return absl::FailedPreconditionError(
        "nothing says that the loss scale is to move: it never grew, and no interval is declared");
  }
  const auto count = static_cast<int64_t>(stuck.size());
  Verdict verdict{.findings = {}, .judged = Counted(judged, "step") + " that was left out"};
  if (judged > 1) verdict.judged = StrCat(judged, " steps that were left out");
  if (count < judged || (!declared && static_cast<double>(count) < settings[kEnoughSteps])) {
    return verdict;
  }
  verdict.findings.push_back(FindingOver(
      stuck, declared ? Severity::kError : Severity::kWarning,
      StrCat("The loss scale was not lowered after gradients overflowed: it was still ",
             Short(scale), " in the step after step ", stuck.front(), ", and so after all ",
             Counted(count, "sampled step"), " that ", count == 1 ? "was" : "were", " left out."),
      {}, scale, scale));
  return verdict;
}

// A growth, then one step that overflows and a scale after it.
Evidence Overflowing(double next_scale, bool declared, int overflows = 1) {
  RunBuilder run = TwoLayers();
  if (declared) run.Process("declared.growth-interval", "2");
  double scale = 512;
  for (int step = 0; step < 4 + overflows; ++step) {
    if (step == 2) scale = 1024;
    if (step > 3) scale = next_scale;
    const bool overflows_here = step >= 3 && step < 3 + overflows;
    run.Quantity(Quantity::kLossScale, "scaler", "scaler", scale);
    BeginStep(run);
    run.Event(Event::kUnscale, scale);
    EndStep(run, {.nonfinite = overflows_here ? 3.0 : 0.0, .taken = !overflows_here});
  }
  return PlainOnly(run);
}

}  // namespace

Check StuckScale() {
  return {
      .id = "precision/stuck_scale",
      .promise =
          "The loss scale falls after a step that was left out because gradients overflowed.",
      .why =
          "At a scale that overflows, the next steps overflow too: the program goes on without "
          "learning.",
      .method =
          "Each sampled step that was left out with gradients that are not finite, against the "
          "loss scale at the next step of the same optimizer; none was followed by a lower one.",
      .fix = "Call scaler.update() once after scaler.step(optimizer), in every step.",
      .limits =
          "Where no growth interval is declared, a scale that never grew may be meant to be "
          "constant and is not judged, and three steps are needed, as some scalers forgive the "
          "first overflow; then it is a warning.",
      .sources = {"Micikevicius et al. 2018, Mixed Precision Training",
                  "PyTorch documentation of torch.amp.GradScaler"},
      .covers = {"A02", "A10"},
      .explains = {"precision/skipped_steps"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kEnoughSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a scale that is a little lower", Expect::kClean,
                    [] { return Overflowing(1023, true); }},
                   {"the same scale", Expect::kFaulty, [] { return Overflowing(1024, true); }},
                   {"the same scale after one overflow, nothing declared", Expect::kClean,
                    [] { return Overflowing(1024, false); }},
                   {"the same scale after three, nothing declared", Expect::kFaulty,
                    [] { return Overflowing(1024, false, 3); }}},
  };
}

}  // namespace dlcheck::precision
