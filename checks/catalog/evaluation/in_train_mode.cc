#include <map>
#include <optional>
#include <utility>

#include "checks/catalog/examples/evaluation_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/evaluation/evaluation_passes.h"
#include "checks/signals/evaluation/evaluations.h"

namespace dlcheck::evaluation {
namespace {

// Whether most evaluations in training mode put the same rows in several times, as those do that
// draw from dropout on purpose: within one evaluation, or in three and more between two steps.
bool DrawsOnPurpose(const IfSeen<EvaluationPasses>& passes) {
  if (!passes) return false;
  std::map<std::pair<int64_t, std::optional<EvaluationPasses::Digest>>, int> alike;
  for (const auto& pass : passes->passes) {
    if (pass.in_training_mode > 0) ++alike[{pass.step, pass.data}];
  }
  int all = 0, repeated = 0;
  for (const auto& pass : passes->passes) {
    if (pass.in_training_mode == 0) continue;
    ++all;
    const bool within = pass.rows > 0 && 2 * pass.repeated >= pass.rows;
    if (within || (pass.data && alike[{pass.step, pass.data}] >= 3)) ++repeated;
  }
  return all > 0 && 2 * repeated >= all;
}

absl::StatusOr<Verdict> Judge(const Settings&, const Evaluations& evaluations,
                              const IfSeen<EvaluationPasses>& passes) {
  if (!evaluations.mode_dependent && !evaluations.reads_mode) {
    return absl::FailedPreconditionError("no recorded module depends on the mode");
  }
  int64_t judged = 0, in_training = 0, first = 0, last = 0;
  bool declared = false;
  for (const Evaluations::Evaluation& evaluation : evaluations.evaluations) {
    // A program may look at an untrained model in any mode.
    if (evaluation.batches == 0 || evaluation.step == 0) continue;
    ++judged;
    if (evaluation.in_training_mode < evaluation.batches) continue;
    if (in_training++ == 0) first = evaluation.step;
    last = evaluation.step;
    declared = declared || evaluation.declared;
  }
  if (judged == 0 && evaluations.ending && evaluations.ending->step > 0) {
    judged = 1;
    in_training = evaluations.ending->in_training_mode > 0 ? 1 : 0;
    first = last = evaluations.ending->step;
  }
  if (judged == 0) return absl::NotFoundError("no evaluation after a step was seen");
  Verdict verdict{.findings = {}, .judged = Counted(judged, "evaluation")};
  if (in_training == 0) return verdict;
  // Monte Carlo dropout at the end of a program looks like one undeclared evaluation.
  const bool always =
      in_training == judged && (declared || in_training > 1) && !DrawsOnPurpose(passes);
  verdict.findings.push_back(
      {.severity = always && evaluations.mode_dependent ? Severity::kWarning : Severity::kNote,
       .message = StrCat(in_training, " of ", Counted(judged, "evaluation"),
                         " ran the model in training mode, the first before step ", first,
                         ", although the model ",
                         evaluations.mode_dependent ? "has dropout or batch normalization."
                                                    : "reads self.training."),
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
      .title = "Evaluation runs in training mode",
      .promise = "Evaluations run the model in evaluation mode.",
      .why =
          "Dropout and batch statistics blur the measurement. Batch normalization learns from "
          "validation data.",
      .method =
          "Reads the model's mode at every batch of an evaluation, with gradients or without. "
          "Judges only models with a module whose outputs depend on the mode. Takes a lone forward "
          "without gradients after the last step for an evaluation, if there is no other.",
      .fix = "Call model.eval() before the evaluation and model.train() after it.",
      .limits = {.needs =
                     "Dropout, batch normalization or another module that depends on the mode, and "
                     "an evaluation after the first step.",
                 .silent_when = "The evaluation comes before the first step.",
                 .severity = "A warning. A note if other evaluations run in evaluation mode, or if "
                             "there is only one undeclared evaluation. A note if the same rows go "
                             "in several times, as in Monte Carlo dropout. A note if only the "
                             "program's own code reads self.training.",
                 .blind_spots = "The mode is that of the whole model, not of each module.",
                 .sensitivity = ""},
      .python = {.bad = R"(with torch.no_grad():
    for x, y in val_loader:
        loss += criterion(model(x), y))",
                 .good = R"(model.eval()
with torch.no_grad():
    for x, y in val_loader:
        loss += criterion(model(x), y)
model.train())"},
      .cpp = {.bad = R"(torch::NoGradGuard no_grad;
for (auto& batch : *val_loader) {
  loss += criterion(model->forward(batch.data), batch.target);
})",
              .good = R"(model->eval();
torch::NoGradGuard no_grad;
for (auto& batch : *val_loader) {
  loss += criterion(model->forward(batch.data), batch.target);
}
model->train();)"},
      .sources = {"PyTorch documentation of Module.eval", "Gal and Ghahramani 2016"},
      .covers = {"evaluation-in-train-mode", "cpp-mode-without-effect"},
      .explains = {"evaluation/changes_model", "evaluation/draws_random_numbers",
                   "evaluation/nondeterministic"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .also_at = {Event::kEvaluationBegan},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all in evaluation mode", Expect::kClean, [] { return ThreeEvaluations({}); }},
                   {"in training mode before the first step", Expect::kClean,
                    [] { return ThreeEvaluations({.begins_in_training_mode = true}); }},
                   {"a forward in evaluation mode at the end", Expect::kClean,
                    [] { return OneForward(false); }},
                   {"a forward in training mode at the end", Expect::kNote,
                    [] { return OneForward(true); }},
                   {"one of two in training mode", Expect::kNote,
                    [] { return ThreeEvaluations({.in_training_mode = 1}); }},
                   {"both in training mode", Expect::kWarning,
                    [] { return ThreeEvaluations({.in_training_mode = 2}); }}},
  };
}

}  // namespace dlcheck::evaluation
