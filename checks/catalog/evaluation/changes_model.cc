#include <algorithm>

#include "checks/catalog/examples/evaluation_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/evaluation/evaluations.h"
#include "checks/signals/optimizer/averaging.h"

namespace dlcheck::evaluation {
namespace {

// The evaluations that left something changed.
struct Changed {
  int64_t count = 0, first_step = 0, last_step = 0;
  void Add(int64_t step) {
    if (count++ == 0) first_step = step;
    last_step = step;
  }
};

Finding FindingOf(const Changed& changed, Severity severity, const std::string& message) {
  return {.severity = severity,
          .message = message,
          .places = {},
          .first_step = changed.first_step,
          .last_step = changed.last_step,
          .count = changed.count,
          .measured = static_cast<double>(changed.count),
          .bound = 0};
}

// EMA weights that are swapped in and out look like a change. An undeclared evaluation may be a
// part of training; in evaluation mode, it changes only what the program makes it change.
Severity SeverityOf(const Evaluations::Evaluation& evaluation, bool has_average) {
  if (!evaluation.declared && evaluation.in_training_mode == 0) return Severity::kNote;
  return has_average || !evaluation.declared ? Severity::kWarning : Severity::kError;
}

absl::StatusOr<Verdict> Judge(const Settings&, const Evaluations& evaluations,
                              const IfSeen<Averaging>& average) {
  Changed model;
  int64_t compared = 0;
  Severity worst = Severity::kNote;
  for (const Evaluations::Evaluation& evaluation : evaluations.evaluations) {
    if (!evaluation.compared) continue;
    ++compared;
    if (evaluation.model_changed) {
      model.Add(evaluation.step);
      worst = std::max(worst, SeverityOf(evaluation, static_cast<bool>(average)));
    }
  }
  if (compared == 0) {
    return absl::NotFoundError("the state before and after an evaluation was not recorded");
  }
  const std::string of_all = StrCat(" of ", Counted(compared, "evaluation"));
  Verdict verdict{.findings = {}, .judged = Counted(compared, "evaluation")};
  if (model.count > 0) {
    std::string message =
        StrCat(model.count, of_all, " changed the model's parameters or buffers, ",
               "first before step ", model.first_step);
    if (average) message += ". The program keeps EMA weights, which may have been swapped in";
    // A cache that fills on first use changes the model once.
    if (model.count < 2) worst = Severity::kNote;
    verdict.findings.push_back(FindingOf(model, worst, message + "."));
  }
  return verdict;
}

}  // namespace

Check ChangesModel() {
  return {
      .id = "evaluation/changes_model",
      .title = "Evaluation changes the model",
      .promise = "An evaluation leaves the model unchanged.",
      .why =
          "Validation data leak into the model. The trained model depends on how often it is "
          "evaluated.",
      .method =
          "Compares digests of all parameters and buffers of the model before and after each "
          "evaluation.",
      .fix =
          "Evaluate after model.eval() and under torch.no_grad(). Look for normalization layers "
          "that are switched back with train(), for optimizer steps and for in-place writes.",
      .limits = {.needs = "Evaluations whose model state is recorded before and after.",
                 .silent_when =
                     "The evaluation takes optimizer steps. EMA weights are swapped in before the "
                     "evaluation starts, or swapped out before the evaluation ends.",
                 .severity =
                     "Error if the program declares its evaluations. Warning if EMA weights are "
                     "known or the evaluation is undeclared. Note if undeclared and in evaluation "
                     "mode. Note for a single changed evaluation: a cache may fill on first use.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(model.train()  # BatchNorm updates its running statistics
with torch.no_grad():
    for x, y in val_loader:
        correct += (model(x).argmax(1) == y).sum())",
                 .good = R"(model.eval()
with torch.no_grad():
    for x, y in val_loader:
        correct += (model(x).argmax(1) == y).sum()
model.train())"},
      .cpp = {.bad = R"(model->train();  // BatchNorm updates its running statistics
torch::NoGradGuard no_grad;
for (auto& batch : *val_loader) {
  correct += Correct(model->forward(batch.data), batch.target);
})",
              .good = R"(model->eval();
torch::NoGradGuard no_grad;
for (auto& batch : *val_loader) {
  correct += Correct(model->forward(batch.data), batch.target);
}
model->train();)"},
      .sources = {"PyTorch documentation of torch.nn.BatchNorm1d: running statistics",
                  "own reasoning"},
      .covers = {"evaluation-in-train-mode", "evaluation-changes-training"},
      .explains = {"evaluation/draws_random_numbers"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"nothing changes", Expect::kClean, [] { return ThreeEvaluations({}); }},
           {"a cache fills once", Expect::kNote, [] { return ThreeEvaluations({.changed = 1}); }},
           {"two of three change the model", Expect::kError,
            [] { return ThreeEvaluations({.changed = 2}); }},
           {"EMA weights are swapped in", Expect::kWarning,
            [] { return ThreeEvaluations({.changed = 2, .swaps_average = true}); }},
           {"two of three undeclared evaluations", Expect::kNote,
            [] { return ThreeEvaluations({.changed = 2, .declared = false, .steps_between = 8}); }},
           {"training mode also draws samples", Expect::kClean,
            [] {
              return ThreeEvaluations(
                  {.declared = false, .steps_between = 8, .draws_samples = true});
            }}},
  };
}

}  // namespace dlcheck::evaluation
