#include "checks/catalog/placement_runs.h"
#include "checks/catalog/step_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/step_placement.h"

namespace dlcheck::gradients {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps of one optimizer that a finding rests on",
                         .source = "own reasoning: all of them have to agree"};

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
                           " gradients were cleared after the last backward call, and the step "
                           "found none that is not zero: nothing is trained."),
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
      .promise = "Gradients live from the backward call to the step that uses them.",
      .why = "The step finds nothing to do: the weights stay as they were initialised.",
      .method =
          "The order of calls within sampled steps, and the gradients that each step consumed. A "
          "step fails if its optimizer or model was asked to clear its gradients after the last "
          "backward call before it, and it then had none but zeros. All sampled steps have to.",
      .fix = "Call zero_grad() before backward() or after step(), never in between.",
      .limits =
          "Judged by what the step consumed: clearing another model's gradients, and putting "
          "gradients back by hand, are clean. Silent where gradients could not be measured.",
      .sources = {"PyTorch documentation of Optimizer.zero_grad", "own reasoning"},
      .covers = {"P05"},
      .explains = {"learnability/input_independence", "learnability/cannot_overfit_one_batch", "gradients/missing",
                   "gradients/no_parameter_gets_gradient"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kCleared,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"cleared before the backward call", Expect::kClean,
                    [] { return Calls("", "zfbgs"); }},
                   {"cleared after it", Expect::kFaulty, [] { return Calls("", "fbzs"); }},
                   {"the model cleared after it, to zero", Expect::kFaulty,
                    [] { return Calls("", "fbZ0s"); }},
                   {"cleared in between, with a backward call after it", Expect::kClean,
                    [] { return Calls("", "fbzfbgs"); }},
                   {"gradients put back by hand", Expect::kClean,
                    [] { return Calls("", "fbzgs"); }},
                   {"one step of them had a gradient", Expect::kClean,
                    [] { return Calls("zfbgs", "fbzs"); }}},
  };
}

}  // namespace dlcheck::gradients
