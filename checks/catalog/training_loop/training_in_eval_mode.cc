#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/model/training_modes.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{.name = "steps",
                         .value = 8,
                         .low = 1,
                         .high = 1e6,
                         .unit = "sampled steps",
                         .meaning = "fewest steps in eval mode for a finding",
                         .source = "own reasoning: none of these steps runs in training mode"};

constexpr Setting kOptimizedShare{
    .name = "optimized_share",
    .value = 0.5,
    .low = 0,
    .high = 1,
    .unit = "1",
    .meaning = "share of optimized elements in the model, below which it is a note",
    .source = "own reasoning: prompt or head tuning leaves a frozen model in eval mode"};

Finding FindingAbout(const TrainingModes::Never& model, bool loaded, double least_share) {
  const bool is_fixed = model.only_normalization && loaded;
  const bool is_meant = is_fixed || model.optimized_share < least_share || model.only_own;
  std::vector<Place> places;
  for (const std::string& name : model.mode_dependent)
    places.push_back({.thing = name, .file = ""});
  if (model.switched.line > 0) places.push_back(model.switched);
  return {
      .severity = is_meant ? Severity::kNote : Severity::kWarning,
      .message = StrCat(
          "All training forwards of ", Counted(model.steps, "sampled step"), " from step ",
          model.first_step, " ran with the whole model in eval mode, and ",
          Listed(model.mode_dependent), " never ran in training mode.",
          is_fixed ? " The program loaded state, so its statistics may be kept on purpose." : ""),
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
  double trunk = 0;  // mode of the trunk, the mode-dependent module
  double last = 0;   // mode of the model in the last step
  bool loaded = false;
  // Switched to training mode in each step: `taken_back` before the batch, `switched` after it.
  bool taken_back = false, switched = false;
  bool optimized = true;
};

Evidence Normalizing(const Modes& modes, std::string_view role) {
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
      .title = "The model is trained in eval mode",
      .promise = "A model is trained in training mode.",
      .why =
          "Dropout is off, and batch norm keeps its initial statistics. The model trains without "
          "the regularization and scaling that it was designed for.",
      .method =
          "Records the mode of every module in the training forwards of sampled steps. The model "
          "has a module that depends on the mode, and no module ever ran in training mode.",
      .fix =
          "Call model.train() before the loop. Libraries often return loaded models in eval mode.",
      .limits =
          {.needs = "A model with a module that is known to depend on the mode.",
           .silent_when =
               "Any module ran in training mode in a sampled step. Or train() was called after the "
               "first step without a recorded return to eval mode before the next batch.",
           .severity = "Warning. Note if only normalization depends on the mode and state was "
                       "loaded. Note if less than half of the model is optimized, or if only the "
                       "program's own forwards read self.training.",
           .blind_spots = "Functional dropout in a forward that does not read self.training.",
           .sensitivity = ""},
      .python = {.bad = R"(model = AutoModel.from_pretrained(name)  # returned in eval mode
for x, y in loader:
    train_step(model, optimizer, x, y))",
                 .good = R"(model = AutoModel.from_pretrained(name)
model.train()
for x, y in loader:
    train_step(model, optimizer, x, y))"},
      .cpp = {.bad = R"(model->eval();
torch::load(model, "model.pt");
TrainOneEpoch(model, *loader, optimizer);)",
              .good = R"(torch::load(model, "model.pt");
model->train();
TrainOneEpoch(model, *loader, optimizer);)"},
      .sources = {"PyTorch documentation of Module.train", "own reasoning"},
      .covers = {"training-in-eval-mode"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kSteps, kOptimizedShare},
      .judgement = Reads<&Judge>(),
      .examples = {{"in training mode in the last step", Expect::kClean,
                    [] { return Normalizing({.last = 1}, "dropout"); }},
                   {"never in training mode", Expect::kWarning,
                    [] { return Normalizing({}, "dropout"); }},
                   {"switched to training mode and back in each step", Expect::kWarning,
                    [] { return Normalizing({.taken_back = true}, "dropout"); }},
                   {"switched to training mode after each batch", Expect::kClean,
                    [] { return Normalizing({.switched = true}, "dropout"); }},
                   {"a loaded model in which only normalization depends on the mode", Expect::kNote,
                    [] { return Normalizing({.loaded = true}, "normalization"); }},
                   {"only normalization is in eval mode", Expect::kClean,
                    [] { return Normalizing({.model = 1, .last = 1}, "normalization"); }},
                   {"a frozen model that only passes gradients on", Expect::kClean,
                    [] { return Normalizing({.optimized = false}, "dropout"); }}},
  };
}

}  // namespace dlcheck::training_loop
