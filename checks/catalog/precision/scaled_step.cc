#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/loss_scaling.h"

namespace dlcheck::precision {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings, const LossScaling& scaling) {
  std::vector<int64_t> steps;
  double scale = 1;
  for (const LossScaling::Step& step : scaling.steps) {
    if (!step.taken || step.scale == 1) continue;
    if (steps.empty()) scale = step.scale;
    steps.push_back(step.step);
  }
  if (steps.empty()) {
    return absl::FailedPreconditionError("no step was taken with a loss scale other than 1");
  }
  const auto count = static_cast<int64_t>(steps.size());
  Verdict verdict{.findings = {}, .judged = Counted(count, "scaled step")};
  if (scaling.unscales || static_cast<double>(count) < settings[kEnoughSteps]) return verdict;
  verdict.findings.push_back(FindingOver(
      steps, Severity::kError,
      StrCat("All ", Counted(count, "sampled step"), " with a loss scale (", Short(scale),
             " at step ", steps.front(), ") were taken without the scale being taken out of the ",
             "gradients: no unscaling was seen in the whole run."),
      {}, scale, 1));
  return verdict;
}

Evidence Scaled(bool unscales) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) {
    run.Quantity(Quantity::kLossScale, "scaler", "scaler", 1024);
    BeginStep(run);
    if (unscales) run.Event(Event::kUnscale, 1024);
    EndStep(run);
  }
  return PlainOnly(run);
}

}  // namespace

Check ScaledStep() {
  return {
      .id = "precision/scaled_step",
      .promise = "The loss scale is taken out of the gradients before the optimizer uses them.",
      .why =
          "SGD takes steps that are too large by the scale; Adam hides that, but its epsilon, "
          "clipping and weight decay through the gradient no longer mean what they say.",
      .method =
          "The loss scale that the program tells for its steps is not 1, the steps were taken, and "
          "no unscaling was seen in any step of the run, sampled or not.",
      .fix =
          "Step through the scaler: scaler.step(optimizer) in the place of optimizer.step(), or "
          "scaler.unscale_(optimizer) before it.",
      .limits =
          "Programs that do not tell their loss scale are not judged. One whose optimizer divides "
          "by the scale inside its kernel has to tell the probe: Probe::Unscaled.",
      .sources = {"Micikevicius et al. 2018, Mixed Precision Training",
                  "PyTorch documentation of torch.amp.GradScaler"},
      .covers = {"A02"},
      .explains = {"gradients/exploding", "numerics/nonfinite_values"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kEnoughSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"unscaled", Expect::kClean, [] { return Scaled(true); }},
                   {"not unscaled", Expect::kFaulty, [] { return Scaled(false); }}},
  };
}

}  // namespace dlcheck::precision
