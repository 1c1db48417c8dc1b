#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/precision/loss_scaling.h"

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
  verdict.findings.push_back(
      FindingOver(steps, Severity::kError,
                  StrCat("All ", Counted(count, "sampled step"), " with a loss scale (",
                         Short(scale), " at step ", steps.front(),
                         ") used scaled gradients: no unscaling was recorded in the whole run."),
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
      .title = "The optimizer steps with scaled gradients",
      .promise = "The loss scale is removed from the gradients before the optimizer uses them.",
      .why =
          "With SGD, steps are too large by the loss scale. Adam hides the scale, but eps, "
          "gradient clipping and coupled weight decay no longer have their intended effect.",
      .method =
          "Finds runs with a reported loss scale other than 1 and steps that were taken. No "
          "unscaling occurred in any step, sampled or not.",
      .fix =
          "Call scaler.step(optimizer) instead of optimizer.step(), or call "
          "scaler.unscale_(optimizer) before it.",
      .limits = {.needs = "A program that reports its loss scale.",
                 .silent_when = "",
                 .severity = "",
                 .blind_spots = "An optimizer that divides by the scale inside its kernel must "
                                "call Probe::Unscaled, or it is reported.",
                 .sensitivity = ""},
      .python = {.bad = R"(scaler.scale(loss).backward()
optimizer.step()
scaler.update()
optimizer.zero_grad())",
                 .good = R"(scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
optimizer.zero_grad())"},
      .cpp = {},
      .sources = {"Micikevicius et al. 2018, Mixed Precision Training",
                  "PyTorch documentation of torch.amp.GradScaler"},
      .covers = {"wrong-scaler-calls"},
      .explains = {"gradients/exploding", "numerics/nonfinite_values"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kEnoughSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"unscaled", Expect::kClean, [] { return Scaled(true); }},
                   {"not unscaled", Expect::kError, [] { return Scaled(false); }}},
  };
}

}  // namespace dlcheck::precision
