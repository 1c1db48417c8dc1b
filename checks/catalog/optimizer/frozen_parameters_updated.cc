#include <algorithm>
#include <set>

#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/frozen_parameters.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 3,
                         .low = 1,
                         .high = 1e6,
                         .unit = "steps",
                         .meaning = "sampled steps that moved a frozen parameter for an error",
                         .source = "own reasoning: one or two before it is dropped are a note"};

struct Moved {
  std::set<std::string> names;
  int64_t steps = 0;  // of the parameter that was moved most often
  int64_t frozen_at = 0, first = 0, last = 0;
  double norm = 0;
};

void Add(const FrozenParameters::Parameter& parameter, Moved& moved) {
  int64_t steps = 0;
  for (const FrozenParameters::Move& move : parameter.steps) {
    if (!(move.norm > 0)) continue;
    if (moved.names.empty() || move.step < moved.first) {
      moved.first = move.step;
      moved.norm = move.norm;
      moved.frozen_at = parameter.frozen_at;
    }
    moved.names.insert(parameter.name);
    moved.last = std::max(moved.last, move.step);
    ++steps;
  }
  moved.steps = std::max(moved.steps, steps);
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const FrozenParameters& frozen) {
  Moved moved;
  int64_t judged = 0;
  for (const FrozenParameters::Parameter& parameter : frozen.parameters) {
    if (parameter.fresh_gradients || parameter.steps.empty()) continue;
    ++judged;
    Add(parameter, moved);
  }
  if (judged == 0) {
    return absl::NotFoundError("no frozen parameter was measured in a later step");
  }
  Verdict verdict{.findings = {}, .judged = Counted(judged, "frozen parameter")};
  if (moved.names.empty()) return verdict;
  std::vector<Place> places;
  for (const std::string& name : moved.names) places.push_back({.thing = name, .file = ""});
  const std::vector<std::string> names(moved.names.begin(), moved.names.end());
  const bool persists = static_cast<double>(moved.steps) >= settings[kSteps];
  verdict.findings.push_back(
      {.severity = persists ? Severity::kError : Severity::kNote,
       .message = StrCat(names.size(), " of ", Counted(judged, "parameter"),
                         " that were frozen at step ", moved.frozen_at, " (", Listed(names),
                         ") went on moving, in up to ", Counted(moved.steps, "sampled step"),
                         ": by a norm of ", Short(moved.norm), " at step ", moved.first, "."),
       .places = std::move(places),
       .first_step = moved.first,
       .last_step = moved.last,
       .count = static_cast<int64_t>(names.size()),
       .measured = moved.norm,
       .bound = 0});
  return verdict;
}

struct Frozen {
  double norm = 0;      // of what each step after that adds to the trunk
  double growth = 1;    // of the trunk's gradient with each
  bool thawed = false;  // the trunk, at once
};

// Trunk and head are frozen at step 4 of 12.
Evidence FrozenAtStep4(const Frozen& values) {
  RunBuilder run = TwoLayers();
  double gradient = 0.1;
  for (int64_t step = 0; step < 12; ++step) {
    if (step == 4) run.Event(Event::kFrozen, 0, "parameter", "trunk.weight");
    if (step == 4) run.Event(Event::kFrozen, 0, "parameter", "head.weight");
    if (step == 5 && values.thawed) run.Event(Event::kThawed, 0, "parameter", "trunk.weight");
    const bool frozen = step > 4;
    if (frozen) gradient *= values.growth;
    const double trunk = frozen ? values.norm : 0.01;
    run.Quantity(Quantity::kUpdateNorm, "parameter", "trunk.weight", trunk);
    run.Quantity(Quantity::kUpdateNorm, "parameter", "head.weight", frozen ? 0 : 0.01);
    AddStep(run, {.trunk_gradient = gradient, .held = {}});
  }
  return PlainOnly(run);
}

}  // namespace

Check FrozenParametersUpdated() {
  return {
      .id = "optimizer/frozen_parameters_updated",
      .promise = "A parameter that was frozen during the run stays where it is.",
      .why =
          "What was to be kept drifts away, moved by a gradient that is no longer computed, by "
          "momentum or by weight decay.",
      .method =
          "Parameters of an optimizer that ceased to require a gradient are followed: how far each "
          "later sampled step moved them, until they require one again.",
      .fix =
          "Set the gradient to none when freezing (parameter.grad = None), so that the optimizer "
          "leaves the parameter out; or take it out of the optimizer's groups.",
      .limits =
          "What is frozen from the start is not judged. The step that finds a parameter frozen may "
          "still use the gradient from before. Where gradients grow while frozen, the program "
          "turns requires_grad on and off within its steps and is not judged.",
      .sources = {"PyTorch documentation of Optimizer.zero_grad: none against zero",
                  "own reasoning"},
      .covers = {"O12", "O17", "M19"},
      .explains = {"gradients/exploding", "optimizer/stale_gradients"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"frozen and still", Expect::kClean, [] { return FrozenAtStep4({}); }},
                   {"frozen and moved by its old gradient", Expect::kFaulty,
                    [] { return FrozenAtStep4({.norm = 1e-9}); }},
                   {"an old gradient that is clipped again and again", Expect::kFaulty,
                    [] { return FrozenAtStep4({.norm = 1e-9, .growth = 0.5}); }},
                   {"moved by gradients that are new", Expect::kClean,
                    [] { return FrozenAtStep4({.norm = 1e-9, .growth = 1.5}); }},
                   {"moved after it was thawed", Expect::kClean,
                    [] { return FrozenAtStep4({.norm = 1e-9, .thawed = true}); }}},
  };
}

}  // namespace dlcheck::optimizer
