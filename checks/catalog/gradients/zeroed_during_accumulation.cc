#include <algorithm>
#include <map>
#include <set>

#include "checks/catalog/examples/window_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/catalog/findings/window_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/step_order.h"

namespace dlcheck::gradients {
namespace {

// The zero_grad() call on this step's gradients between two backward calls; null if there is none.
// The gradients of a model, or of an optimizer not known before its first step, may be zeroed for
// another optimizer.
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

// Several lines have several losses. The first may be for the gradient of the input, as an attack.
bool HasOneLine(const StepOrder::Step* step) {
  std::set<SiteId> sites;
  for (const Occurrence& event : step->events) {
    if (event.event == Event::kBackward) sites.insert(event.site);
  }
  return sites.size() == 1;
}

bool TakesSeveral(const StepOrder::Step& step) { return step.Count(Event::kBackward) > 1; }

// Steps with several backward calls, of optimizers most of whose steps have several. Other
// optimizers sometimes skip a batch after its backward call and zero its gradients. Optimizers that
// follow one another, each with its own model, are counted together.
std::vector<const StepOrder::Step*> Windowed(const StepOrder& order) {
  const bool is_one_at_a_time = order.has_one_at_a_time();
  std::map<ThingId, int64_t> surplus;  // of steps with several calls over those with one
  const auto key = [&](const StepOrder::Step& step) {
    return is_one_at_a_time ? 0 : step.optimizer;
  };
  for (const StepOrder::Step& step : order.steps) {
    if (step.Count(Event::kBackward) > 0) surplus[key(step)] += TakesSeveral(step) ? 1 : -1;
  }
  std::vector<const StepOrder::Step*> found;
  for (const StepOrder::Step& step : order.steps) {
    // An LBFGS step may compute any number of fresh gradients.
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
  if (judged == 0 || count < judged || static_cast<double>(count) < settings[kEnoughSteps])
    return verdict;
  const bool declared = order.trace->ProcessAttribute("declared.accumulation") == "mean";
  const bool meant = declared || (windows && Accumulates(*windows, steps, settings[kMean]));
  if (!meant && !std::ranges::all_of(windowed, HasOneLine)) return verdict;
  verdict.findings.push_back(FindingOver(
      steps, meant ? Severity::kError : Severity::kNote,
      StrCat("Gradients were zeroed between two backward calls of one step in all ",
             Counted(count, "sampled step"), " of several backward calls (first at step ",
             steps.front(), ", after ", Counted(first->micro_step, "call"), ")",
             meant
                 ? ": only the later micro-batches count, although the losses are parts of a mean."
                 : ": the step does not use the gradients of the earlier calls."),
      PlacesOf(*order.trace, first->site), static_cast<double>(count), 0));
  return verdict;
}

// Accumulation windows of two half losses, or of two whole losses.
Evidence OfWindows(double share, int clears_inside, bool declared) {
  RunBuilder run = TwoLayers();
  if (declared) run.Process("declared.accumulation", "mean");
  for (int step = 0; step < 8; ++step) {
    BeginStep(run, {{share, 32}, {share, 32}}, step < clears_inside);
    EndStep(run);
  }
  return PlainOnly(run);
}

// Two whole losses in lines of their own.
Evidence OfTwoLines() {
  RunBuilder run = TwoLayers();
  for (int i = 0; i < 16; ++i) {
    run.Event(Event::kCleared, 0, "optimizer", "optimizer#0").Line(i % 2 + 3);
    ContinueStep(run, {1, 32});
    if (i % 2 == 1) EndStep(run);
  }
  return PlainOnly(run);
}

// Every fourth batch is skipped after its backward call.
Evidence WithSkippedBatches() {
  RunBuilder run = TwoLayers();
  for (int step = 0; step < 12; ++step) {
    BeginStep(run,
              step % 3 == 2 ? std::vector<Windows::MicroBatch>{{1, 32}, {1, 32}}
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
      .title = "Gradients are zeroed during accumulation",
      .promise = "Accumulated gradients are not zeroed before the step.",
      .why =
          "Only the last micro-batch of an accumulation window counts. The other micro-batches "
          "cost time, and the update becomes noisier and smaller.",
      .method =
          "Compares the order of calls in every sampled step with two or more backward calls. "
          "Reports a run if every such step zeroes the optimizer's or model's gradients between "
          "two of them.",
      .fix =
          "Move optimizer.zero_grad() out of the loop over micro-batches: before the first one, or "
          "right after optimizer.step().",
      .limits = {.needs = "Steps with several backward calls.",
                 .silent_when =
                     "Only some steps zero gradients in between. Most steps of the "
                     "optimizer have one backward call. The optimizer is LBFGS. The calls stand "
                     "in several lines, and their losses are no parts of a mean.",
                 .severity =
                     "Error if accumulation is declared, or if the losses of each accumulation "
                     "window add up to one mean. Otherwise a note: sharpness-aware steps zero in "
                     "between on purpose.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in micro_batches:
    optimizer.zero_grad()
    (criterion(model(x), y) / len(micro_batches)).backward()
optimizer.step())",
                 .good = R"(optimizer.zero_grad()
for x, y in micro_batches:
    (criterion(model(x), y) / len(micro_batches)).backward()
optimizer.step())"},
      .cpp = {.bad = R"(for (auto& batch : micro_batches) {
  optimizer.zero_grad();
  (criterion(model->forward(batch.data), batch.target) / parts).backward();
}
optimizer.step();)",
              .good = R"(optimizer.zero_grad();
for (auto& batch : micro_batches) {
  (criterion(model->forward(batch.data), batch.target) / parts).backward();
}
optimizer.step();)"},
      .sources = {"PyTorch documentation of Optimizer.zero_grad",
                  "Foret et al. 2021, Sharpness-Aware Minimization: a healthy look-alike"},
      .covers = {"zeroed-during-accumulation", "wrong-call-order"},
      .explains = {"training_loop/split_dependence"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kCleared,
      .settings = {kEnoughSteps, kMean},
      .judgement = Reads<&Judge>(),
      .examples = {{"zeroed inside all accumulation windows but one", Expect::kClean,
                    [] { return OfWindows(0.5, 7, true); }},
                   {"every fourth batch skipped after its backward call", Expect::kClean,
                    [] { return WithSkippedBatches(); }},
                   {"zeroed inside all accumulation windows", Expect::kError,
                    [] { return OfWindows(0.5, 8, true); }},
                   {"halves of a mean, with nothing declared", Expect::kError,
                    [] { return OfWindows(0.5, 8, false); }},
                   {"two whole losses, as in a sharpness-aware step", Expect::kNote,
                    [] { return OfWindows(1, 8, false); }},
                   {"two whole losses in two lines, as in adversarial training", Expect::kClean,
                    [] { return OfTwoLines(); }}},
  };
}

}  // namespace dlcheck::gradients
