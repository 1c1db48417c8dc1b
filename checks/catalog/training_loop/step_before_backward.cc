#include "checks/catalog/placement_runs.h"
#include "checks/catalog/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/step_placement.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 2,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps of one optimizer that a finding rests on",
                         .source = "own reasoning: all of them have to agree"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepPlacement& placement) {
  if (!placement.backward_seen) return absl::NotFoundError("no backward call was seen");
  if (!placement.forward_seen) return absl::NotFoundError("no training forward was seen");
  int64_t judged = 0;
  Verdict verdict;
  for (const StepPlacement::Optimizer& optimizer : placement.optimizers) {
    judged += optimizer.placed;
    const auto count = static_cast<int64_t>(optimizer.before_backward.size());
    if (count < optimizer.placed || static_cast<double>(count) < settings[kSteps]) continue;
    std::vector<Place> places = PlacesOf(*placement.trace, optimizer.step_site);
    places.push_back({.thing = optimizer.name, .file = ""});
    verdict.findings.push_back(FindingOver(
        optimizer.before_backward, optimizer.consumed ? Severity::kWarning : Severity::kError,
        StrCat("In all ", Counted(count, "sampled step"), " from step ",
               optimizer.before_backward.front(), " ", optimizer.name,
               " stepped after the forward and before its backward call",
               optimizer.consumed
                   ? ", so that each update uses the gradients of the batch before."
                   : ", and no step had a gradient that is not zero: nothing is trained."),
        std::move(places), static_cast<double>(count), 0));
  }
  verdict.judged = StrCat(Counted(static_cast<int64_t>(placement.optimizers.size()), "optimizer"),
                          ", ", Counted(judged, "sampled step"));
  return verdict;
}

}  // namespace

Check StepBeforeBackward() {
  return {
      .id = "training_loop/step_before_backward",
      .promise = "A step comes after the backward call of the forward before it.",
      .why =
          "The step finds no gradient, or that of the batch before: nothing is trained, or each "
          "update follows a gradient of other weights and another batch.",
      .method =
          "The order of calls within sampled steps. A step is misplaced if a training forward of "
          "the optimizer's models has had no backward call when the step comes, and a backward "
          "call is the first thing after it. All sampled steps of the optimizer have to be.",
      .fix = "Call loss.backward() before optimizer.step(), and zero_grad() before backward().",
      .limits =
          "A warning where steps consume gradients: delaying them by one batch may be meant. A "
          "step at the top of the loop, before the forward, is another order and not judged. "
          "Needs forwards that are seen, which compiled ones are not.",
      .sources = {"PyTorch tutorial: optimizing model parameters", "own reasoning"},
      .covers = {"P05"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "gradients/zeroed_before_step", "gradients/missing", "gradients/no_parameter_gets_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"backward, then step", Expect::kClean, [] { return Calls("", "zfbgs"); }},
                   {"step, then backward", Expect::kFaulty, [] { return Calls("zfs", "bzfs"); }},
                   {"the gradients of the batch before", Expect::kFaulty,
                    [] { return Calls("fs", "zbfgs"); }},
                   {"a step at the top of the loop", Expect::kClean,
                    [] { return Calls("s", "zfbgs"); }},
                   {"one step of them is in order", Expect::kClean,
                    [] { return Calls("zfsbfs", "zfbgs"); }},
                   {"a forward for the log before the step", Expect::kClean,
                    [] { return Calls("", "zfbfgs"); }},
                   {"two optimizers step after one backward", Expect::kClean,
                    [] { return Calls("", "zfbgsS"); }}},
  };
}

}  // namespace dlcheck::training_loop
