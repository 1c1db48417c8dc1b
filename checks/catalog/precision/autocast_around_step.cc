#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/precision/autocast.h"

namespace dlcheck::precision {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Autocast& autocast) {
  if (autocast.steps_inside.empty() && !autocast.IsUsed()) {
    return absl::FailedPreconditionError("no use of autocast was recorded");
  }
  Verdict verdict{.findings = {}, .judged = Counted(autocast.steps, "sampled step")};
  if (autocast.steps_inside.empty()) return verdict;
  const auto count = static_cast<int64_t>(autocast.steps_inside.size());
  verdict.findings.push_back(
      FindingOver(autocast.steps_inside, Severity::kWarning,
                  StrCat("The optimizer stepped inside autocast in ", count, " of ",
                         Counted(autocast.steps, "sampled step"), ", first at step ",
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
      .title = "optimizer.step() runs inside autocast",
      .promise = "Optimizer steps run outside autocast.",
      .why =
          "Matrix products inside the step are rounded to bf16 or fp16, as in preconditioners or "
          "orthogonalized updates. A backward pass inside autocast is rounded too.",
      .method =
          "Records whether autocast is enabled for the device of the parameters at the start of "
          "each sampled step.",
      .fix =
          "End the autocast block after the loss. Call backward(), gradient clipping and "
          "optimizer.step() outside the block.",
      .limits = {.needs = "A program that uses autocast.",
                 .silent_when = "",
                 .severity = "Always a warning: elementwise optimizers such as SGD and Adam give "
                             "the same steps inside autocast.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = criterion(model(x), y)
    loss.backward()
    optimizer.step())",
                 .good = R"(with torch.autocast("cuda", dtype=torch.bfloat16):
    loss = criterion(model(x), y)
loss.backward()
optimizer.step())"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.amp.autocast: backward passes under autocast are "
                  "not recommended"},
      .covers = {"autocast-around-too-much"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"autocast in forward passes only", Expect::kClean,
                    [] { return Inside(false); }},
                   {"autocast around the steps too", Expect::kWarning,
                    [] { return Inside(true); }}},
  };
}

}  // namespace dlcheck::precision
