#include <algorithm>
#include <set>

#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/frozen_parameters.h"

namespace dlcheck::optimizer {
namespace {

constexpr Setting kSteps{
    .name = "steps",
    .value = 3,
    .low = 1,
    .high = 1e6,
    .unit = "steps",
    .meaning = "sampled steps that changed a frozen parameter, for an error",
    .source = "own reasoning: one or two steps before the gradient is dropped are a note"};

struct Moved {
  std::set<std::string> names;
  int64_t steps = 0;  // of the parameter that changed most often
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
       .message = StrCat(names.size(), " of ", Counted(judged, "parameter"), " frozen at step ",
                         moved.frozen_at, " (", Listed(names), ") still changed, in up to ",
                         Counted(moved.steps, "sampled step"), ": the change at step ", moved.first,
                         " had norm ", Short(moved.norm), "."),
       .places = std::move(places),
       .first_step = moved.first,
       .last_step = moved.last,
       .count = static_cast<int64_t>(names.size()),
       .measured = moved.norm,
       .bound = 0});
  return verdict;
}

struct Frozen {
  double norm = 0;      // of the trunk's update in each later step
  double growth = 1;    // of the trunk's gradient in each later step
  bool thawed = false;  // whether the trunk is unfrozen one step later
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
      .title = "Frozen parameters still change",
      .promise = "A parameter that is frozen during the run keeps its value.",
      .why =
          "Weights that should stay fixed drift. An old gradient, momentum or weight decay still "
          "changes them.",
      .method =
          "Follows optimizer parameters whose requires_grad was set to False during the run. "
          "Measures how far each later sampled step changes them, until they require a gradient "
          "again.",
      .fix =
          "Set parameter.grad = None when freezing, so that the optimizer skips the parameter. Or "
          "remove the parameter from the optimizer's groups.",
      .limits = {.needs = "An optimizer parameter that is frozen during the run.",
                 .silent_when =
                     "Parameters that are frozen from the start are not judged. Gradients grow "
                     "while frozen, so the program toggles requires_grad within its steps.",
                 .severity = "Error from three sampled steps on; otherwise note, because the first "
                             "step after freezing may still use the old gradient.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(if epoch == freeze_epoch:
    for p in model.backbone.parameters():
        p.requires_grad_(False))",
                 .good = R"(if epoch == freeze_epoch:
    for p in model.backbone.parameters():
        p.requires_grad_(False)
        p.grad = None)"},
      .cpp = {},
      .sources = {"PyTorch documentation of Optimizer.zero_grad: none against zero",
                  "own reasoning"},
      .covers = {"frozen-parameter-updated", "zero-instead-of-missing-gradient",
                 "frozen-layers-change"},
      .explains = {"gradients/exploding", "optimizer/stale_gradients"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kOptimizerBuilt,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"frozen and unchanged", Expect::kClean, [] { return FrozenAtStep4({}); }},
                   {"frozen and changed by an old gradient", Expect::kError,
                    [] { return FrozenAtStep4({.norm = 1e-9}); }},
                   {"an old gradient that is clipped repeatedly", Expect::kError,
                    [] { return FrozenAtStep4({.norm = 1e-9, .growth = 0.5}); }},
                   {"changed by new gradients", Expect::kClean,
                    [] { return FrozenAtStep4({.norm = 1e-9, .growth = 1.5}); }},
                   {"changed after unfreezing", Expect::kClean,
                    [] { return FrozenAtStep4({.norm = 1e-9, .thawed = true}); }}},
  };
}

}  // namespace dlcheck::optimizer
