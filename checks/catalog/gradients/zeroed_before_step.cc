#include "checks/catalog/examples/placement_runs.h"
#include "checks/catalog/findings/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/gradients/step_placement.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps of one optimizer for a finding",
                         .source = "own reasoning: all of these steps must agree"};

absl::StatusOr<Verdict> Judge(const Settings& settings, const StepPlacement& placement) {
  if (!placement.backward_seen) return absl::NotFoundError("no backward call was seen");
  int64_t judged = 0;
  Verdict verdict;
  for (const StepPlacement::Optimizer& optimizer : placement.optimizers) {
    judged += optimizer.measured;
    const auto count = static_cast<int64_t>(optimizer.cleared.size());
    if (count < optimizer.measured || static_cast<double>(count) < settings[kSteps]) continue;
    std::vector<Place> places = PlacesOf(*placement.trace, optimizer.clear_site);
    places.push_back({.thing = optimizer.name, .file = ""});
    verdict.findings.push_back(
        FindingOver(optimizer.cleared, Severity::kError,
                    StrCat("In all ", Counted(count, "sampled step"), " of ", optimizer.name,
                           " gradients were zeroed after the last backward call, and the step "
                           "found only zeros: the weights are not trained."),
                    std::move(places), static_cast<double>(count), 0));
  }
  verdict.judged = StrCat(Counted(static_cast<int64_t>(placement.optimizers.size()), "optimizer"),
                          ", ", Counted(judged, "sampled step"));
  return verdict;
}

}  // namespace

Check ZeroedBeforeStep() {
  return {
      .id = "gradients/zeroed_before_step",
      .title = "Gradients are zeroed before optimizer.step()",
      .promise = "Gradients survive from backward to the step that uses them.",
      .why = "The step finds only zero gradients. The weights keep their initial values.",
      .method =
          "Compares the order of calls in sampled steps with the gradients that each step used. "
          "Reports an optimizer if gradients were zeroed after the last backward and only zeros "
          "were left, in all sampled steps.",
      .fix = "Call zero_grad() before backward() or after step(), never in between.",
      .limits =
          {.needs =
               "Backward calls, and eight sampled steps of one optimizer with measured gradients.",
           .silent_when = "Gradients could not be measured. Only another model's gradients are "
                          "zeroed. The program restores the gradients itself before the step.",
           .severity = "Always an error.",
           .blind_spots = "",
           .sensitivity = ""},
      .python = {.bad = R"(loss = criterion(model(x), y)
loss.backward()
optimizer.zero_grad()
optimizer.step())",
                 .good = R"(optimizer.zero_grad()
loss = criterion(model(x), y)
loss.backward()
optimizer.step())"},
      .cpp = {.bad = R"(criterion(model->forward(x), y).backward();
optimizer.zero_grad();
optimizer.step();)",
              .good = R"(optimizer.zero_grad();
criterion(model->forward(x), y).backward();
optimizer.step();)"},
      .sources = {"PyTorch documentation of Optimizer.zero_grad", "own reasoning"},
      .covers = {"wrong-call-order"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch",
                   "gradients/missing", "gradients/no_parameter_gets_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kCleared,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"zeroed before the backward call", Expect::kClean, [] { return Calls("", "zfbgs"); }},
           {"zeroed after the backward call", Expect::kError, [] { return Calls("", "fbzs"); }},
           {"zeroed and stepped before the backward call", Expect::kError,
            [] { return Calls("zs", "bzs"); }},
           {"model.zero_grad() after the backward call", Expect::kError,
            [] { return Calls("", "fbZ0s"); }},
           {"zeroed between two backward calls", Expect::kClean,
            [] { return Calls("", "fbzfbgs"); }},
           {"gradients restored before the step", Expect::kClean,
            [] { return Calls("", "fbzgs"); }},
           {"one step with a gradient", Expect::kClean, [] { return Calls("zfbgs", "fbzs"); }}},
  };
}

}  // namespace dlcheck::gradients
