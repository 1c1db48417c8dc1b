#include <cmath>

#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/catalog/findings/window_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck::gradients {
namespace {

// The first clip call between the first and the last backward call whose gradients the step uses;
// null if there is none. An infinite bound only measures the norm.
const Occurrence* ClippedInside(const StepOrder::Step& step) {
  const Occurrence* first = nullptr;
  for (int64_t i = step.FirstBackward(); i < step.LastBackward(); ++i) {
    const Occurrence& event = step.events[static_cast<size_t>(i)];
    if (event.event == Event::kCleared) first = nullptr;
    const bool is_bounded = event.event == Event::kClip && std::isfinite(event.value);
    if (is_bounded && first == nullptr) first = &event;
  }
  return first;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepOrder& order,
                              const IfSeen<Windows>& windows) {
  std::vector<int64_t> steps;
  int64_t judged = 0, again = 0, clips = 0;
  const Occurrence* first = nullptr;
  for (const StepOrder::Step& step : order.steps) {
    clips += step.Count(Event::kClip);
    const int64_t calls = step.Count(Event::kBackward);
    if (calls < 2) continue;
    ++judged;
    const Occurrence* clipped = ClippedInside(step);
    if (clipped == nullptr) continue;
    steps.push_back(step.step);
    if (!step.Within(Event::kClip, step.LastBackward(), step.end()).empty()) ++again;
    if (first == nullptr) first = clipped;
  }
  if (clips == 0) return absl::FailedPreconditionError("no clipping was recorded");
  if (judged == 0) {
    return absl::FailedPreconditionError("no step took more than one backward call");
  }
  if (!order.has_one_at_a_time()) return SeveralOptimizers();
  Verdict verdict{.findings = {}, .judged = Counted(judged, "step") + " of several backward calls"};
  const auto count = static_cast<int64_t>(steps.size());
  if (count < judged || static_cast<double>(count) < settings[kEnoughSteps]) return verdict;
  const bool declared = order.trace->ProcessAttribute("declared.accumulation") == "mean";
  const bool is_one = declared || (windows && Accumulates(*windows, steps, settings[kMean]));
  verdict.findings.push_back(FindingOver(
      steps, is_one ? Severity::kWarning : Severity::kNote,
      StrCat("Gradients were clipped (bound ", Short(first->value),
             ") before the last backward call in all ", Counted(count, "sampled step"),
             " of several backward calls, first at step ", steps.front(), " after ",
             Counted(first->micro_step, "call"), ", ",
             again == count ? "and again after it"
                            : (again == 0 ? "and not after it" : "and sometimes after it"),
             ": clipping saw only a part of the step's gradient."),
      PlacesOf(*order.trace, first->site), static_cast<double>(count), 0));
  return verdict;
}

// Accumulation windows of two micro-batches, clipped before or after the last one.
Evidence Clipped(int inside, double bound = 1, bool clears_inside = false) {
  RunBuilder run = TwoLayers();
  const double share = clears_inside ? 1 : 0.5;
  for (int step = 0; step < 8; ++step) {
    const auto clip = [&] { run.Event(Event::kClip, bound, "clip", "norm", 2); };
    BeginStep(run, {{share, 32}});
    if (step < inside) clip();
    if (clears_inside) run.Event(Event::kCleared, 0, "optimizer", "optimizer#0");
    ContinueStep(run, {share, 32});
    if (step >= inside) clip();
    EndStep(run);
  }
  return PlainOnly(run);
}

}  // namespace

Check ClippedDuringAccumulation() {
  return {
      .id = "gradients/clipped_during_accumulation",
      .title = "Gradients are clipped inside accumulation",
      .promise = "Gradients are clipped once, after all micro-batches of a step.",
      .why =
          "Clipping part of a sum bounds neither the sum nor its parts. Each later clip also "
          "scales down the earlier micro-batches, which then weigh less.",
      .method =
          "Compares the order of calls in every sampled step with two or more backward calls. "
          "Reports a run if every such step clips between two of them without zeroing afterwards.",
      .fix =
          "Call clip_grad_norm_ once, after the last backward() of the accumulation window and "
          "right before optimizer.step().",
      .limits = {.needs = "Clip calls, one optimizer, and steps with several backward calls.",
                 .silent_when = "Several optimizers step. The bound is infinite: such a call only "
                                "measures the norm.",
                 .severity = "Warning if the losses are parts of a mean, or accumulation is "
                             "declared. Otherwise a note: clipping the gradient of one loss or one "
                             "sample before the next may be intentional.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in micro_batches:
    (criterion(model(x), y) / len(micro_batches)).backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step())",
                 .good = R"(for x, y in micro_batches:
    (criterion(model(x), y) / len(micro_batches)).backward()
nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step())"},
      .cpp = {.bad = R"(for (auto& batch : micro_batches) {
  (criterion(model->forward(batch.data), batch.target) / parts).backward();
  nn::utils::clip_grad_norm_(model->parameters(), 1);
}
optimizer.step();)",
              .good = R"(for (auto& batch : micro_batches) {
  (criterion(model->forward(batch.data), batch.target) / parts).backward();
}
nn::utils::clip_grad_norm_(model->parameters(), 1);
optimizer.step();)"},
      .sources = {"own reasoning: clipping is not linear"},
      .covers = {"clip-per-micro-batch"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kEnoughSteps, kMean},
      .judgement = Reads<&Judge>(),
      .examples = {{"inside all windows but one", Expect::kClean, [] { return Clipped(7); }},
                   {"inside all windows", Expect::kWarning, [] { return Clipped(8); }},
                   {"a norm measurement with an infinite bound", Expect::kClean,
                    [] { return Clipped(8, INFINITY); }},
                   {"clipped gradients are zeroed, as in a sharpness-aware step", Expect::kClean,
                    [] { return Clipped(8, 1, true); }}},
  };
}

}  // namespace dlcheck::gradients
