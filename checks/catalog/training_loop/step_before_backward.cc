#include "checks/catalog/examples/placement_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/step_placement.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 2,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps of one optimizer for a finding",
                         .source = "own reasoning: all of these steps must agree"};

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
               optimizer.before_backward.front(), ", ", optimizer.name,
               " stepped after the forward pass and before its backward call",
               optimizer.consumed
                   ? ", so each update used the gradients of the previous batch."
                   : ", and every gradient was zero or missing: nothing was trained."),
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
      .title = "optimizer.step() runs before loss.backward()",
      .promise = "Every optimizer step comes after the backward call of its forward pass.",
      .why =
          "The step finds no gradient or the gradient of the previous batch. Either nothing is "
          "trained, or each update uses old weights and another batch.",
      .method =
          "Checks the order of calls within sampled steps. A step is misplaced if it stands "
          "between a training forward and that forward's backward call. Every sampled step of the "
          "optimizer must be misplaced.",
      .fix = "Call loss.backward() before optimizer.step(), and zero_grad() before backward().",
      .limits = {.needs = "Recorded forward passes; compiled forward passes are not recorded.",
                 .silent_when = "A step at the top of the loop, before the forward pass, is "
                                "another order and is not judged.",
                 .severity = "Error if no step has a nonzero gradient. Warning if steps consume "
                             "gradients, because a delay of one batch may be intentional.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    loss = criterion(model(x), y)
    optimizer.step()
    optimizer.zero_grad()
    loss.backward())",
                 .good = R"(for x, y in loader:
    loss = criterion(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step())"},
      .cpp = {.bad = R"(auto loss = criterion(model->forward(x), y);
optimizer.step();
optimizer.zero_grad();
loss.backward();)",
              .good = R"(auto loss = criterion(model->forward(x), y);
optimizer.zero_grad();
loss.backward();
optimizer.step();)"},
      .sources = {"PyTorch tutorial: optimizing model parameters", "own reasoning"},
      .covers = {"wrong-call-order"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "gradients/zeroed_before_step", "gradients/missing",
                   "gradients/no_parameter_gets_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"backward, then step", Expect::kClean, [] { return Calls("", "zfbgs"); }},
                   {"step, then backward", Expect::kError, [] { return Calls("zfs", "bzfs"); }},
                   {"a step with the gradients of the previous batch", Expect::kWarning,
                    [] { return Calls("fs", "zbfgs"); }},
                   {"a step at the top of the loop", Expect::kClean,
                    [] { return Calls("s", "zfbgs"); }},
                   {"one step in the right order", Expect::kClean,
                    [] { return Calls("zfsbfs", "zfbgs"); }},
                   {"a forward pass for logging before the step", Expect::kClean,
                    [] { return Calls("", "zfbfgs"); }},
                   {"two optimizers step after one backward", Expect::kClean,
                    [] { return Calls("", "zfbgsS"); }}},
  };
}

}  // namespace dlcheck::training_loop
