#include "checks/catalog/examples/example_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/model/training_modes.h"

namespace dlcheck::training_loop {
namespace {

constexpr Setting kSteps{
    .name = "steps",
    .value = 8,
    .low = 1,
    .high = 1e6,
    .unit = "steps",
    .meaning = "sampled steps in eval mode up to the end of the run",
    .source = "own reasoning: gradients computed in eval mode on purpose take fewer steps"};

Finding FindingAbout(const TrainingModes::Model& model) {
  std::vector<Place> places;
  for (const std::string& name : model.mode_dependent)
    places.push_back({.thing = name, .file = ""});
  if (model.switched.line > 0) places.push_back(model.switched);
  const bool is_certain = model.evaluated_between && !model.only_own && !model.may_be_meant;
  return {.severity = is_certain ? Severity::kError : Severity::kNote,
          .message = StrCat("All training forwards of ", Counted(model.steps_after, "sampled step"),
                            " from step ", model.first_evaluation,
                            " to the end ran in eval mode, after training mode up to step ",
                            model.last_training,
                            model.evaluated_between ? " and an evaluation in between" : "", ". ",
                            Listed(model.mode_dependent), " depend",
                            model.mode_dependent.size() == 1 ? "s" : "", " on the mode."),
          .places = std::move(places),
          .first_step = model.first_evaluation,
          .last_step = model.last_evaluation,
          .count = model.steps_after,
          .measured = static_cast<double>(model.steps_after),
          .bound = 0};
}

absl::StatusOr<Verdict> Judge(const Settings& settings, const TrainingModes& modes) {
  Verdict verdict{
      .findings = {},
      .judged = StrCat(Counted(modes.models, "model"), ", ", Counted(modes.steps, "sampled step"))};
  for (const TrainingModes::Model& model : modes.left) {
    if (static_cast<double>(model.steps_after) >= settings[kSteps]) {
      verdict.findings.push_back(FindingAbout(model));
    }
  }
  return verdict;
}

// Four steps in training mode, an evaluation if `evaluates`, and twelve steps after it, in which
// the trunk and the head run in the modes given, and which the optimizer of that number takes.
Evidence AfterEvaluation(bool evaluates, double trunk, double head, double last_head,
                         int optimizer = 0) {
  RunBuilder run;
  run.Attribute("module", "trunk", "mode_dependent", "1");
  for (int step = 0; step < 16; ++step) {
    if (step == 4 && evaluates) {
      run.Event(Event::kEvaluationBegan, 0, "model", "Net");
      run.Event(Event::kEvaluated, 2.3, "", "", 64);
    }
    const bool after = step >= 4;
    run.Event(Event::kForward, after ? trunk : 1, "module", "trunk");
    run.Event(Event::kForward, step == 15 ? last_head : after ? head : 1, "module", "head");
    run.Event(Event::kBackward, 0, "loss", "cross_entropy");
    run.Ordinal(after ? optimizer : 0).Event(Event::kStep, 0, "optimizer", "").Ordinal(0);
  }
  return PlainOnly(run);
}

}  // namespace

Check StuckInEvalMode() {
  return {
      .id = "training_loop/stuck_in_eval_mode",
      .title = "model.train() is not called after evaluation",
      .promise = "After an evaluation the model returns to training mode.",
      .why =
          "For the rest of the training, dropout is off and batch norm uses its old running "
          "statistics without updating them.",
      .method =
          "Compares the mode of every module in training forwards before and after an evaluation. "
          "Modules ran in training mode before it and never in a sampled step after it.",
      .fix = "Call model.train() after each evaluation or at the start of every epoch.",
      .limits = {.needs = "A model with a module that is known to depend on the mode.",
                 .silent_when =
                     "Only some modules are in eval mode, as when batch norm layers are frozen. "
                     "Eval mode from the start belongs to training_loop/training_in_eval_mode.",
                 .severity = "Error after an evaluation. Note without one, after a second eval(), "
                             "and with a new optimizer: fine-tuning in eval mode may be meant.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for epoch in range(epochs):
    train_one_epoch(model, train_loader, optimizer)
    model.eval()
    validate(model, val_loader))",
                 .good = R"(for epoch in range(epochs):
    model.train()
    train_one_epoch(model, train_loader, optimizer)
    model.eval()
    validate(model, val_loader))"},
      .cpp = {.bad = R"(for (int epoch = 0; epoch < epochs; ++epoch) {
  TrainOneEpoch(model, *train_loader, optimizer);
  model->eval();
  Validate(model, *val_loader);
})",
              .good = R"(for (int epoch = 0; epoch < epochs; ++epoch) {
  model->train();
  TrainOneEpoch(model, *train_loader, optimizer);
  model->eval();
  Validate(model, *val_loader);
})"},
      .sources = {"PyTorch documentation of Module.train", "own reasoning"},
      .covers = {"training-in-eval-mode"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kSteps},
      .judgement = Reads<&Judge>(),
      .examples = {{"back in training mode", Expect::kClean,
                    [] { return AfterEvaluation(true, 1, 1, 1); }},
                   {"a frozen normalization layer", Expect::kClean,
                    [] { return AfterEvaluation(true, 0, 1, 1); }},
                   {"back in training mode late", Expect::kClean,
                    [] { return AfterEvaluation(true, 0, 0, 1); }},
                   {"never in training mode again", Expect::kError,
                    [] { return AfterEvaluation(true, 0, 0, 0); }},
                   {"a new optimizer fine-tunes", Expect::kNote,
                    [] { return AfterEvaluation(true, 0, 0, 0, 1); }},
                   {"switched without an evaluation", Expect::kNote,
                    [] { return AfterEvaluation(false, 0, 0, 0); }}},
  };
}

}  // namespace dlcheck::training_loop
