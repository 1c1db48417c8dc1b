#include "checks/catalog/evaluation_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/evaluations.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Evaluations& evaluations) {
  if (!evaluations.mode_dependent) {
    return absl::FailedPreconditionError("no module was recorded as one that depends on the mode");
  }
  int64_t judged = 0, in_training = 0, first = 0, last = 0;
  bool declared = false;
  for (const Evaluations::Evaluation& evaluation : evaluations.evaluations) {
    // What an untrained model gives is looked at for its own sake, in whichever mode it begins.
    if (evaluation.batches == 0 || evaluation.step == 0) continue;
    ++judged;
    if (evaluation.in_training_mode < evaluation.batches) continue;
    if (in_training++ == 0) first = evaluation.step;
    last = evaluation.step;
    declared = declared || evaluation.declared;
  }
  if (judged == 0) return absl::NotFoundError("no evaluation after a step was seen");
  Verdict verdict{.findings = {}, .judged = Counted(judged, "evaluation")};
  if (in_training == 0) return verdict;
  // Masks that are drawn on purpose, as a program's last act, are one evaluation to a probe.
  const bool always = in_training == judged && (declared || in_training > 1);
  verdict.findings.push_back(
      {.severity = always ? Severity::kWarning : Severity::kNote,
       .message = StrCat(in_training, " of ", Counted(judged, "evaluation"),
                         " ran with the model in training mode, the first before step ", first,
                         ", although it has dropout or batch normalisation."),
       .places = {},
       .first_step = first,
       .last_step = last,
       .count = in_training,
       .measured = static_cast<double>(in_training),
       .bound = 0});
  return verdict;
}

}  // namespace

Check InTrainMode() {
  return {
      .id = "evaluation/in_train_mode",
      .promise = "Evaluations run the model in evaluation mode.",
      .why =
          "Dropout and the statistics of each batch blur what is measured, and batch normalisation "
          "learns from validation data.",
      .method =
          "The mode of the model at every batch of an evaluation, where some module is known to "
          "give other outputs in training mode.",
      .fix = "Call model.eval() before the evaluation and model.train() after it.",
      .limits =
          "Drawing dropout masks on purpose (Monte Carlo dropout) looks the same: hence a warning, "
          "and a note where other evaluations are in evaluation mode, or where there is one that "
          "the program does not declare. The mode is that of the whole model, not of each module. "
          "Evaluations before the first step are not judged.",
      .sources = {"PyTorch documentation of Module.eval", "Gal and Ghahramani 2016"},
      .covers = {"P02", "B06"},
      .explains = {"evaluation/changes_model", "evaluation/nondeterministic"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all in evaluation mode", Expect::kClean, [] { return ThreeEvaluations({}); }},
                   {"in training mode before the first step", Expect::kClean,
                    [] { return ThreeEvaluations({.begins_in_training_mode = true}); }},
                   {"one of two in training mode", Expect::kFaulty,
                    [] { return ThreeEvaluations({.in_training_mode = 1}); }},
                   {"both in training mode", Expect::kFaulty,
                    [] { return ThreeEvaluations({.in_training_mode = 2}); }}},
  };
}

}  // namespace dlcheck::evaluation
