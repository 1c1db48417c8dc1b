#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/autocast.h"

namespace dlcheck::precision {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Autocast& autocast) {
  if (autocast.steps_inside.empty() && !autocast.IsUsed()) {
    return absl::FailedPreconditionError("no autocast around a step was recorded");
  }
  Verdict verdict{.findings = {}, .judged = Counted(autocast.steps, "sampled step")};
  if (autocast.steps_inside.empty()) return verdict;
  const auto count = static_cast<int64_t>(autocast.steps_inside.size());
  verdict.findings.push_back(
      FindingOver(autocast.steps_inside, Severity::kWarning,
                  StrCat("The optimizer steps inside autocast: ", count, " of ",
                         Counted(autocast.steps, "sampled step"), ", first step ",
                         autocast.steps_inside.front(), "."),
                  {}, static_cast<double>(count), 0));
  return verdict;
}

Evidence Inside(bool inside) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 8; ++step) {
    BeginStep(run);
    if (inside) run.Event(Event::kAutocastStep, 0, "optimizer", "optimizer#0");
    run.Quantity(Quantity::kLowPrecisionShare, "model", "", 1, 100);
    EndStep(run);
  }
  return PlainOnly(run);
}

}  // namespace

Check AutocastAroundStep() {
  return {
      .id = "precision/autocast_around_step",
      .promise = "Optimizer steps are taken outside autocast.",
      .why =
          "Products inside the step, as of preconditioners or orthogonalised updates, are rounded "
          "to bf16 or fp16, and so is a backward pass that runs there.",
      .method =
          "Whether autocast is enabled, at the beginning of each sampled step, for the device of "
          "its parameters.",
      .fix =
          "End the autocast block after the loss: backward(), clipping and optimizer.step() belong "
          "outside it.",
      .limits =
          "Elementwise optimizers such as SGD and Adam give the same steps there; hence a warning. "
          "Programs in which no autocast was seen are not judged.",
      .sources = {"PyTorch documentation of torch.amp.autocast: backward passes under autocast are "
                  "not recommended"},
      .covers = {"A05"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"autocast in forward passes only", Expect::kClean,
                    [] { return Inside(false); }},
                   {"autocast around the steps too", Expect::kFaulty, [] { return Inside(true); }}},
  };
}

}  // namespace dlcheck::precision
