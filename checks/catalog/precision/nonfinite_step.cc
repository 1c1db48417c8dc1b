#include <map>
#include <set>

#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/engine/whole.h"
#include "checks/signals/gradients/gradients.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck::precision {
namespace {

// Parameters that were non-finite before and after a step.
struct Spoiled {
  std::vector<std::string> parameters;
  double elements = 0;
};

// By step. A parameter counts if it has non-finite gradient elements before the step and non-finite
// elements after the step: then the step has used them.
std::map<int64_t, Spoiled> SpoiledSteps(const Gradients& gradients) {
  std::map<int64_t, Spoiled> spoiled;
  for (const Gradients::Parameter& parameter : gradients.parameters) {
    std::set<int64_t> after;
    for (const Sample& sample : parameter.weight) {
      if (sample.aux > 0) after.insert(sample.step);
    }
    for (const Sample& sample : parameter.consumed) {
      if (!(sample.aux > 0) || !after.contains(sample.step)) continue;
      spoiled[sample.step].parameters.push_back(parameter.name);
      spoiled[sample.step].elements += sample.aux;
    }
  }
  return spoiled;
}

// Why the program should skip such steps; empty if it should not.
std::string WhyLeftOut(const Trace& trace) {
  if (trace.ProcessAttribute("declared.nonfinite") == "skip") return "by declaration";
  if (!trace.ThingsWith(Quantity::kLossScale).empty()) return "by its loss scaler";
  for (const Occurrence& event : trace.Events()) {
    if (event.event == Event::kUnscale) return "by its loss scaler";
  }
  return "";
}

absl::StatusOr<Verdict> Judge(const Settings&, const StepOrder& order, const Gradients& gradients) {
  const std::string why = WhyLeftOut(*order.trace);
  if (why.empty()) {
    return absl::FailedPreconditionError(
        "the program has no loss scaler and does not declare nonfinite = skip");
  }
  const std::map<int64_t, Spoiled> spoiled = SpoiledSteps(gradients);
  std::vector<int64_t> steps;
  for (const StepOrder::Step& step : order.steps) {
    if (step.taken && spoiled.contains(step.step)) steps.push_back(step.step);
  }
  Verdict verdict{.findings = {},
                  .judged = Counted(static_cast<int64_t>(order.steps.size()), "sampled step")};
  if (steps.empty()) return verdict;
  const Spoiled& first = spoiled.at(steps.front());
  std::vector<Place> places;
  for (const std::string& name : first.parameters) places.push_back({.thing = name, .file = ""});
  verdict.findings.push_back(FindingOver(
      steps, Severity::kError,
      StrCat("Step ", steps.front(), " used gradients with ",
             Counted(Whole(first.elements), "non-finite element"), " (", Listed(first.parameters),
             ") and left non-finite weights, although such steps are skipped ", why, "."),
      std::move(places), first.elements, 0));
  return verdict;
}

// Step 3 of a program with a loss scaler has non-finite gradients.
Evidence Overflowing(bool taken) {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 6; ++step) {
    const double scale = step > 3 ? 512 : 1024;
    const bool overflows = step == 3;
    run.Quantity(Quantity::kLossScale, "scaler", "scaler", scale);
    BeginStep(run);
    run.Event(Event::kUnscale, scale);
    EndStep(run, {.nonfinite = overflows ? 3.0 : 0.0,
                  .nonfinite_after = overflows && taken ? 3.0 : 0.0,
                  .taken = taken || !overflows});
  }
  return PlainOnly(run);
}

}  // namespace

Check NonfiniteStep() {
  return {
      .id = "precision/nonfinite_step",
      .title = "A step with NaN or Inf gradients is not skipped",
      .promise =
          "A program that skips steps with non-finite gradients (NaN or Inf) takes none of them.",
      .why =
          "One such step writes NaN or Inf into the weights. The loss scaler or the program's own "
          "test should prevent exactly this.",
      .method =
          "Finds sampled steps that were taken with non-finite gradient elements and left "
          "non-finite elements in the same parameter.",
      .fix =
          "Call scaler.step(optimizer) instead of optimizer.step(). Or test all gradients before "
          "the step, after the last change to them.",
      .limits = {.needs = "A loss scaler or the declaration nonfinite = skip.",
                 .silent_when = "The optimizer itself makes gradients finite.",
                 .severity = "",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(scaler.scale(loss).backward()
scaler.unscale_(optimizer)
optimizer.step()
scaler.update())",
                 .good = R"(scaler.scale(loss).backward()
scaler.unscale_(optimizer)
scaler.step(optimizer)
scaler.update())"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.amp.GradScaler",
                  "own reasoning: NaN is absorbing under every optimizer's arithmetic"},
      .covers = {"wrong-scaler-calls", "nonfinite-clip-norm"},
      .explains = {"checkpoint/nonfinite_save", "gradients/exploding", "numerics/nonfinite_values"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"such a step is skipped", Expect::kClean, [] { return Overflowing(false); }},
                   {"such a step is taken", Expect::kError, [] { return Overflowing(true); }}},
  };
}

}  // namespace dlcheck::precision
