#include "checks/catalog/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/training_modes.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps in evaluation mode that a finding rests on",
                         .source = "own reasoning: no step in training mode is seen among them"};

constexpr Setting kOptimizedShare{
    .name = "optimized_share",
    .value = 0.5,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "share of a model's elements that are optimized, below which it is a note",
    .source = "own reasoning: a prompt or a head on a fixed model leaves that in evaluation mode"};

Finding FindingAbout(const TrainingModes::Never& model, bool loaded, double least_share) {
  const bool is_fixed = model.only_normalisation && loaded;
  const bool is_meant = is_fixed || model.optimized_share < least_share;
  std::vector<Place> places;
  for (const std::string& name : model.mode_dependent)
    places.push_back({.thing = name, .file = ""});
  return {.severity = is_meant ? Severity::kNote : Severity::kWarning,
          .message = StrCat(
              "All training forwards of ", Counted(model.steps, "sampled step"), " from step ",
              model.first_step, " ran with the whole model in evaluation mode, so that ",
              Listed(model.mode_dependent), " never did what it does in training",
              is_fixed ? "; state was loaded, whose statistics may be kept on purpose." : "."),
          .places = std::move(places),
          .first_step = model.first_step,
          .last_step = model.last_step,
          .count = model.steps,
          .measured = static_cast<double>(model.steps),
          .bound = 0};
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const TrainingModes& modes) {
  Verdict verdict{
      .findings = {},
      .judged = StrCat(Counted(modes.models, "model"), ", ", Counted(modes.steps, "sampled step"))};
  for (const TrainingModes::Never& model : modes.never) {
    if (static_cast<double>(model.steps) < settings[kSteps]) continue;
    verdict.findings.push_back(FindingAbout(model, modes.state_loaded, settings[kOptimizedShare]));
  }
  return verdict;
}

struct Modes {
  double model = 0;  // mode of everything but the trunk
  double trunk = 0;  // mode of the trunk, which depends on it
  double last = 0;   // mode of the model in the last step
  bool loaded = false;
  // Switched to training mode in each step, and back before the batch, or else for the next step.
  bool taken_back = false, switched = false;
  bool optimized = true;
};

Evidence Normalising(const Modes& modes, std::string_view role) {
  RunBuilder run = TwoLayers();
  run.Attribute("module", "trunk", "mode_dependent", "1")
      .Attribute("module", "trunk", "role", role);
  if (!modes.optimized) {
    for (const char* name : {"trunk.weight", "head.weight"}) {
      run.Attribute("parameter", name, "optimizer", "");
    }
  }
  if (modes.loaded) run.Event(Event::kLoaded, 0, "model", "Net");
  for (int step = 0; step < 12; ++step) {
    if (modes.taken_back) run.Event(Event::kMode, 1, "model", "Net");
    run.Event(Event::kUsed, 8, "model", "Net");
    run.Event(Event::kForward, modes.trunk, "module", "trunk");
    run.Event(Event::kForward, step == 11 ? modes.last : modes.model, "module", "head");
    run.Event(Event::kBackward, 0, "loss", "cross_entropy");
    if (modes.optimized) {
      run.Quantity(Quantity::kGradientNorm, "parameter", "trunk.weight", 0.1);
      run.Quantity(Quantity::kGradientNorm, "parameter", "head.weight", 0.1);
    }
    if (modes.switched) run.Event(Event::kMode, 1, "model", "Net");
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  return PlainOnly(run);
}

}  // namespace

Check TrainingInEvalMode() {
  return {
      .id = "training_loop/training_in_eval_mode",
      .promise = "A model is trained in training mode.",
      .why =
          "Dropout is off, and batch normalisation keeps the statistics it was built with, so "
          "that the model is trained without the regularisation and scaling it was made for.",
      .method =
          "The mode of every module in the training forwards of sampled steps: of a model that "
          "is trained, and has a module that depends on the mode, no module ever ran in "
          "training mode.",
      .fix = "Call model.train() before the loop. Models that a library loads are often in eval().",
      .limits =
          "Any module in training mode in any sampled step makes it clean, and so does a call of "
          "train() after the first one that is not seen to be taken back before the next batch. A "
          "note if only normalisation depends on the mode and state was loaded, or if less than "
          "half of the model is optimized. Dropout by functions is not seen.",
      .sources = {"PyTorch documentation of Module.train", "own reasoning"},
      .covers = {"P01"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kSteps, kOptimizedShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"in training mode in the last step", Expect::kClean,
                    [] { return Normalising({.last = 1}, "dropout"); }},
                   {"never in training mode", Expect::kFaulty,
                    [] { return Normalising({}, "dropout"); }},
                   {"switched to training mode for each step, and back", Expect::kFaulty,
                    [] { return Normalising({.taken_back = true}, "dropout"); }},
                   {"switched to training mode after each batch", Expect::kClean,
                    [] { return Normalising({.switched = true}, "dropout"); }},
                   {"only normalisation, of a model that was loaded", Expect::kFaulty,
                    [] { return Normalising({.loaded = true}, "normalisation"); }},
                   {"only normalisation is in evaluation mode", Expect::kClean,
                    [] { return Normalising({.model = 1, .last = 1}, "normalisation"); }},
                   {"a fixed model that only passes gradients on", Expect::kClean,
                    [] { return Normalising({.optimized = false}, "dropout"); }}},
  };
}

}  // namespace dlcheck::training_loop
