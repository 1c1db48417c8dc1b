#include <cmath>

#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/step_order.h"

namespace dlcheck::gradients {
namespace {

// Clipping of a step's records before its first backward call, if gradients are cleared there too:
// then nothing of what was clipped is left for a step to use.
const Occurrence* ClippedInVain(const StepOrder::Step& step) {
  const int64_t backward = step.FirstBackward();
  if (backward == step.end() || step.Within(Event::kCleared, 0, backward).empty()) return nullptr;
  for (int64_t i = 0; i < backward; ++i) {
    const Occurrence& event = step.events[static_cast<size_t>(i)];
    if (event.event == Event::kClip && std::isfinite(event.value)) return &event;
  }
  return nullptr;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepOrder& order) {
  std::vector<int64_t> steps;
  int64_t clips = 0, in_time = 0;
  const Occurrence* first = nullptr;
  for (const StepOrder::Step& step : order.steps) {
    clips += step.Count(Event::kClip);
    const auto after = step.Within(Event::kClip, step.FirstBackward(), step.end());
    in_time += static_cast<int64_t>(after.size());
    const Occurrence* clipped = ClippedInVain(step);
    if (clipped == nullptr) continue;
    steps.push_back(step.step);
    if (first == nullptr) first = clipped;
  }
  if (clips == 0) return absl::FailedPreconditionError("no clipping was recorded");
  if (!order.has_one_at_a_time()) return SeveralOptimizers();
  Verdict verdict{.findings = {},
                  .judged = StrCat(clips, " clippings in ",
                                   Counted(static_cast<int64_t>(order.steps.size()), "step"))};
  if (in_time > 0 || static_cast<double>(steps.size()) < settings[kEnoughSteps]) return verdict;
  verdict.findings.push_back(FindingOver(
      steps, Severity::kError,
      StrCat("Gradients are clipped (bound ", Short(first->value), ") after the step that used ",
             "them: in ", Counted(static_cast<int64_t>(steps.size()), "sampled step"),
             ", first before the backward call of step ", steps.front(),
             ", the clipping stood between the step before and the next backward call, where ",
             "gradients are cleared too, and never between backward call and step."),
      PlacesOf(*order.trace, first->site), static_cast<double>(steps.size()), 0));
  return verdict;
}

// Clipped once a step: before the first backward call, or once right after the last.
Evidence Clipped(bool in_time_once, double bound = 1) {
  RunBuilder run = TwoLayers();
  const auto clip = [&] { run.Event(Event::kClip, bound, "clip", "norm", 2); };
  for (int step = 0; step < 8; ++step) {
    if (step > 0) clip();
    BeginStep(run);
    if (step == 5 && in_time_once) clip();
    EndStep(run);
  }
  clip();
  return PlainOnly(run);
}

}  // namespace

Check ClippedAfterStep() {
  return {
      .id = "gradients/clipped_after_step",
      .promise = "Gradients are clipped before the step that uses them.",
      .why =
          "A clipping after the step changes gradients that nobody uses any more: the steps are "
          "not bounded at all, and the program looks as if they were.",
      .method =
          "Order of the events of sampled steps: clippings stand between a step and the first "
          "backward call after it, where gradients are cleared as well, and none stands between "
          "a backward call and its step.",
      .fix = "Move clip_grad_norm_ between loss.backward() and optimizer.step().",
      .limits =
          "Programs in which several optimizers step, and those that do not clear gradients by a "
          "call, are not judged. A bound without end only measures and is no clipping.",
      .sources = {"PyTorch documentation of torch.nn.utils.clip_grad_norm_"},
      .covers = {"C01", "P05"},
      .explains = {"gradients/exploding"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kEnoughSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"once in time", Expect::kClean, [] { return Clipped(true); }},
                   {"always too late", Expect::kFaulty, [] { return Clipped(false); }},
                   {"a measurement after each step", Expect::kClean,
                    [] { return Clipped(false, INFINITY); }}},
  };
}

}  // namespace dlcheck::gradients
