#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/precision/loss_scaling.h"

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
        "no sampled step was skipped because of non-finite gradients");
  }
  const bool declared = scaling.declared_interval > 0;
  if (!declared && !scaling.Grows()) {
    return absl::FailedPreconditionError(
        "the loss scale may be constant on purpose: it never grew, and no growth interval is "
        "declared");
  }
  const auto count = static_cast<int64_t>(stuck.size());
  Verdict verdict{.findings = {}, .judged = Counted(judged, "skipped step")};
  if (count < judged || (!declared && static_cast<double>(count) < settings[kEnoughSteps])) {
    return verdict;
  }
  verdict.findings.push_back(
      FindingOver(stuck, declared ? Severity::kError : Severity::kWarning,
                  StrCat("The loss scale did not fall after gradients overflowed, in ", count,
                         " of ", Counted(judged, "skipped step"), ": it was still ", Short(scale),
                         " after step ", stuck.front(), "."),
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
      .title = "The loss scale stays high after an overflow",
      .promise = "The loss scale falls after a step that was skipped because gradients overflowed.",
      .why =
          "At a scale that overflows, the next steps overflow too. The program continues without "
          "learning.",
      .method =
          "Compares the loss scale of each sampled step skipped for non-finite gradients with the "
          "scale at the optimizer's next step. The scale never falls.",
      .fix = "Call scaler.update() once after scaler.step(optimizer) in every step.",
      .limits = {.needs = "A sampled step that was skipped for non-finite gradients. Without a "
                          "declared growth interval, three such steps, because some scalers "
                          "tolerate the first overflow.",
                 .silent_when = "No growth interval is declared and the scale never grew, so it "
                                "may be constant on purpose.",
                 .severity = "Error with a declared growth interval; otherwise warning.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(scaler.scale(loss).backward()
scaler.step(optimizer)
optimizer.zero_grad()  # scaler.update() is missing)",
                 .good = R"(scaler.scale(loss).backward()
scaler.step(optimizer)
scaler.update()
optimizer.zero_grad())"},
      .cpp = {},
      .sources = {"Micikevicius et al. 2018, Mixed Precision Training",
                  "PyTorch documentation of torch.amp.GradScaler"},
      .covers = {"wrong-scaler-calls", "collapsed-loss-scale"},
      .explains = {"precision/skipped_steps"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kScalerBuilt,
      .settings = {kEnoughSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"a slightly lower scale", Expect::kClean,
                    [] { return Overflowing(1023, true); }},
                   {"the same scale", Expect::kError, [] { return Overflowing(1024, true); }},
                   {"the same scale after one overflow, undeclared", Expect::kClean,
                    [] { return Overflowing(1024, false); }},
                   {"the same scale after three overflows, undeclared", Expect::kWarning,
                    [] { return Overflowing(1024, false, 3); }}},
  };
}

}  // namespace dlcheck::precision
