#include <cmath>

#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck::gradients {
namespace {

// The clip call before the first backward call of a step, if gradients are zeroed there too: then
// no step uses the clipped gradients.
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
                  .judged = StrCat(Counted(clips, "clip call"), " in ",
                                   Counted(static_cast<int64_t>(order.steps.size()), "step"))};
  if (in_time > 0 || static_cast<double>(steps.size()) < settings[kEnoughSteps]) return verdict;
  verdict.findings.push_back(FindingOver(
      steps, Severity::kError,
      StrCat("Gradients were clipped (bound ", Short(first->value),
             ") after the step that had used ", "them, in ",
             Counted(static_cast<int64_t>(steps.size()), "sampled step"),
             " (first before the backward call of step ", steps.front(),
             "). Every clip call came between a step and the next backward call, where ",
             "gradients are also zeroed."),
      PlacesOf(*order.trace, first->site), static_cast<double>(steps.size()), 0));
  return verdict;
}

// One clip call per step: before the first backward call, or once right after the last.
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
      .title = "Gradients are clipped after optimizer.step()",
      .promise = "Gradients are clipped before the step that uses them.",
      .why =
          "Clipping after the step changes gradients that nothing uses. The updates are unbounded "
          "although the program looks clipped.",
      .method =
          "Compares the order of calls in sampled steps. Reports a program whose clip calls all "
          "come between a step and the next backward, where gradients are also zeroed.",
      .fix = "Move clip_grad_norm_ between loss.backward() and optimizer.step().",
      .limits = {.needs = "Clip calls, calls that zero gradients, and one optimizer.",
                 .silent_when = "Several optimizers step. The program zeroes gradients without a "
                                "call. The bound is infinite: such a call only measures the norm.",
                 .severity = "Always an error.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(optimizer.zero_grad()
loss.backward()
optimizer.step()
nn.utils.clip_grad_norm_(model.parameters(), 1.0))",
                 .good = R"(optimizer.zero_grad()
loss.backward()
nn.utils.clip_grad_norm_(model.parameters(), 1.0)
optimizer.step())"},
      .cpp = {.bad = R"(optimizer.zero_grad();
loss.backward();
optimizer.step();
nn::utils::clip_grad_norm_(model->parameters(), 1);)",
              .good = R"(optimizer.zero_grad();
loss.backward();
nn::utils::clip_grad_norm_(model->parameters(), 1);
optimizer.step();)"},
      .sources = {"PyTorch documentation of torch.nn.utils.clip_grad_norm_"},
      .covers = {"clip-at-wrong-time", "wrong-call-order"},
      .explains = {"gradients/exploding"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kClip,
      .settings = {kEnoughSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"clipped once before the step", Expect::kClean, [] { return Clipped(true); }},
                   {"always clipped after the step", Expect::kError, [] { return Clipped(false); }},
                   {"a norm measurement after each step", Expect::kClean,
                    [] { return Clipped(false, INFINITY); }}},
  };
}

}  // namespace dlcheck::gradients
