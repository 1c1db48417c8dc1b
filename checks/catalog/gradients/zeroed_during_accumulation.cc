#include <algorithm>
#include <map>

#include "checks/catalog/step_finding.h"
#include "checks/catalog/window_finding.h"
#include "checks/catalog/window_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/step_order.h"

namespace dlcheck::gradients {
namespace {

// The clearing of what this step's optimizer consumes, after a backward call and before another;
// null if there is none. A model, or an optimizer not known before its first step, may be cleared
// for another optimizer's sake.
const Occurrence* ClearedInside(const StepOrder& order, const StepOrder::Step& step) {
  for (int64_t i = step.FirstBackward(); i < step.LastBackward(); ++i) {
    const Occurrence& event = step.events[static_cast<size_t>(i)];
    if (event.event != Event::kCleared) continue;
    const bool is_own = event.thing == step.optimizer;
    const bool may_be = event.thing == 0 || order.trace->thing(event.thing).kind == "model";
    if (is_own || (may_be && order.has_one_optimizer())) return &event;
  }
  return nullptr;
}

bool TakesSeveral(const StepOrder::Step& step) { return step.Count(Event::kBackward) > 1; }

// Steps that took several backward calls, of optimizers that do so more often than not. Others skip a
// batch now and then after its backward call, and clear what it gave. Of optimizers that follow one
// another, each with a model of its own, only the whole says how often that is.
std::vector<const StepOrder::Step*> Windowed(const StepOrder& order) {
  const bool is_one_at_a_time = order.has_one_at_a_time();
  std::map<ThingId, int64_t> surplus;  // of steps with several calls over those with one
  const auto key = [&](const StepOrder::Step& step) { return is_one_at_a_time ? 0 : step.optimizer; };
  for (const StepOrder::Step& step : order.steps) {
    if (step.Count(Event::kBackward) > 0) surplus[key(step)] += TakesSeveral(step) ? 1 : -1;
  }
  std::vector<const StepOrder::Step*> found;
  for (const StepOrder::Step& step : order.steps) {
    // Its steps call for as many fresh gradients as they like.
    const bool is_search = order.trace->Attribute(step.optimizer, "type") == "LBFGS";
    if (!is_search && TakesSeveral(step) && surplus[key(step)] > 0) found.push_back(&step);
  }
  return found;
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepOrder& order,
                              const IfSeen<Windows>& windows) {
  std::vector<int64_t> steps;
  const Occurrence* first = nullptr;
  const std::vector<const StepOrder::Step*> windowed = Windowed(order);
  for (const StepOrder::Step* step : windowed) {
    const Occurrence* cleared = ClearedInside(order, *step);
    if (cleared == nullptr) continue;
    steps.push_back(step->step);
    if (first == nullptr) first = cleared;
  }
  const auto judged = static_cast<int64_t>(windowed.size());
  if (judged == 0 && std::ranges::none_of(order.steps, TakesSeveral)) {
    return absl::FailedPreconditionError("no step took more than one backward call");
  }
  Verdict verdict{.findings = {}, .judged = Counted(judged, "step") + " of several backward calls"};
  const auto count = static_cast<int64_t>(steps.size());
  if (judged == 0 || count < judged || static_cast<double>(count) < settings[kEnoughSteps]) return verdict;
  const bool declared = order.trace->ProcessAttribute("declared.accumulation") == "mean";
  const bool meant = declared || (windows && Accumulates(*windows, steps, settings[kMean]));
  verdict.findings.push_back(FindingOver(
      steps, meant ? Severity::kError : Severity::kNote,
      StrCat("Gradients were cleared between two backward calls of one step in all ",
             Counted(count, "sampled step"), " of several backward calls (first at step ",
             steps.front(), ", after ", Counted(first->micro_step, "call"), ")",
             meant
                 ? ", so that only what came after counts although the losses are parts of a mean."
                 : ": what the calls before it gave is not part of the step."),
      PlacesOf(*order.trace, first->site), static_cast<double>(count), 0));
  return verdict;
}

// Windows of two halves, or of two whole losses.
Evidence OfWindows(double share, int clears_inside, bool declared) {
  RunBuilder run = TwoLayers();
  if (declared) run.Process("declared.accumulation", "mean");
  for (int step = 0; step < 8; ++step) {
    BeginStep(run, {{share, 32}, {share, 32}}, step < clears_inside);
    EndStep(run);
  }
  return PlainOnly(run);
}

// Every fourth batch is skipped after its backward call.
Evidence WithSkippedBatches() {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 12; ++step) {
    BeginStep(run, step % 3 == 2 ? std::vector<Windows::MicroBatch>{{1, 32}, {1, 32}}
                                 : std::vector<Windows::MicroBatch>{{1, 32}},
              step % 3 == 2);
    EndStep(run);
  }
  return PlainOnly(run);
}

}  // namespace

Check ZeroedDuringAccumulation() {
  return {
      .id = "gradients/zeroed_during_accumulation",
      .promise = "What the backward calls of one step give is not cleared before the step.",
      .why =
          "Only the last micro-batch of a window is learned from: the others cost time, and the "
          "step is as much noisier and smaller as there are of them.",
      .method =
          "Order of the events of every sampled step with two or more backward calls: its own "
          "optimizer's clearing, or that of the model, stands between two of them in all.",
      .fix =
          "Move optimizer.zero_grad() out of the loop over micro-batches: once before the first, "
          "or right after optimizer.step().",
      .limits =
          "An error where accumulation is declared, or where the losses of each window are parts "
          "that add to one mean; a note otherwise, as adversarial training and sharpness-aware "
          "steps clear in between on purpose. A clearing in some steps only is not a finding. "
          "Silent for an optimizer most of whose steps took one backward call, and for LBFGS.",
      .sources = {"PyTorch documentation of Optimizer.zero_grad",
                  "Foret et al. 2021, Sharpness-Aware Minimization: a legal look-alike"},
      .covers = {"G05", "P05"},
      .explains = {"training_loop/split_dependence"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kCleared,
      .settings = {kEnoughSteps, kMean},
      .judgement = Reads<&Judge>(),
      .examples = {{"cleared inside all windows but one", Expect::kClean,
                    [] { return OfWindows(0.5, 7, true); }},
                   {"every fourth batch skipped after its backward call", Expect::kClean,
                    [] { return WithSkippedBatches(); }},
                   {"cleared inside all windows", Expect::kFaulty,
                    [] { return OfWindows(0.5, 8, true); }},
                   {"halves of a mean, nothing declared", Expect::kFaulty,
                    [] { return OfWindows(0.5, 8, false); }},
                   {"two whole losses, as of adversarial training", Expect::kFaulty,
                    [] { return OfWindows(1, 8, false); }}},
  };
}

}  // namespace dlcheck::gradients
