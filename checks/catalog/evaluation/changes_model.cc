#include <algorithm>

#include "checks/catalog/evaluation_runs.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/averaging.h"
#include "checks/signals/evaluations.h"

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

// An average that is swapped in before and out after looks changed. What a probe took for an
// evaluation may be a part of the training; in evaluation mode it changes what it is made to.
Severity SeverityOf(const Evaluations::Evaluation& evaluation, bool has_average) {
  if (!evaluation.declared && evaluation.in_training_mode == 0) return Severity::kNote;
  return has_average || !evaluation.declared ? Severity::kWarning : Severity::kError;
}

// Forwards without gradients in training mode alone are as well those that make the data to train
// on, of a policy that acts, say, which is to draw.
bool IsForTraining(const Evaluations::Evaluation& evaluation) {
  return !evaluation.declared && evaluation.in_training_mode == evaluation.batches;
}

absl::StatusOr<Verdict> Judge(const Settings&, const Evaluations& evaluations,
                              const IfSeen<Averaging>& average) {
  Changed model, random;
  int64_t compared = 0;
  Severity worst = Severity::kNote;
  for (const Evaluations::Evaluation& evaluation : evaluations.evaluations) {
    if (!evaluation.compared) continue;
    ++compared;
    if (evaluation.model_changed) {
      model.Add(evaluation.step);
      worst = std::max(worst, SeverityOf(evaluation, static_cast<bool>(average)));
    }
    if (evaluation.random_changed && !IsForTraining(evaluation)) random.Add(evaluation.step);
  }
  if (compared == 0) {
    return absl::NotFoundError("the state before and after an evaluation was not recorded");
  }
  const std::string of_all = StrCat(" of ", Counted(compared, "evaluation"));
  Verdict verdict{.findings = {}, .judged = Counted(compared, "evaluation")};
  if (model.count > 0) {
    std::string message =
        StrCat(model.count, of_all, " left other bits in the model's parameters or buffers than ",
               "they found, first before step ", model.first_step);
    if (average) message += "; the program keeps an average, which may have been swapped in";
    // Once is what a cache that is filled on first use does.
    if (model.count < 2) worst = Severity::kNote;
    verdict.findings.push_back(FindingOf(model, worst, message + "."));
  } else if (random.count > 0) {
    verdict.findings.push_back(FindingOf(
        random, Severity::kNote,
        StrCat(random.count, of_all, " drew from the default generator, first before step ",
               random.first_step, ", so that training depends on how often it is evaluated.")));
  }
  return verdict;
}

}  // namespace

Check ChangesModel() {
  return {
      .id = "evaluation/changes_model",
      .promise = "An evaluation leaves the model as it found it.",
      .why =
          "Validation data leak into the model, and what is trained depends on how often it is "
          "measured.",
      .method =
          "Digests of all parameters and buffers of the model, and of the default generator, "
          "before "
          "and after each evaluation.",
      .fix =
          "Evaluate after model.eval() and under torch.no_grad(); look for normalisation layers "
          "that were switched back to train() and for optimizer steps or in-place writes.",
      .limits =
          "Averaged weights are to be swapped in before the beginning or out before the end; it is "
          "a warning where such an average is known, or where the program does not say what its "
          "evaluations are, and then a note in evaluation mode. One changed evaluation is a note, "
          "as caches are filled on first use; so are random numbers alone. An evaluation that "
          "takes "
          "steps is not judged.",
      .sources = {"PyTorch documentation of torch.nn.BatchNorm1d: running statistics",
                  "own reasoning"},
      .covers = {"P02", "P04"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples =
          {{"nothing is changed", Expect::kClean, [] { return ThreeEvaluations({}); }},
           {"a cache is filled", Expect::kFaulty, [] { return ThreeEvaluations({.changed = 1}); }},
           {"two of three change the model", Expect::kFaulty,
            [] { return ThreeEvaluations({.changed = 2}); }},
           {"an average is swapped in", Expect::kFaulty,
            [] { return ThreeEvaluations({.changed = 2, .swaps_average = true}); }},
           {"two of three that a probe took for evaluations", Expect::kFaulty,
            [] { return ThreeEvaluations({.changed = 2, .declared = false, .steps_between = 8}); }},
           {"samples drawn in training mode besides", Expect::kClean,
            [] {
              return ThreeEvaluations(
                  {.declared = false, .steps_between = 8, .draws_samples = true});
            }},
           {"random numbers are drawn", Expect::kFaulty,
            [] { return ThreeEvaluations({.random_drawn = true}); }},
           {"by a policy that acts, in training mode", Expect::kClean,
            [] {
              return ThreeEvaluations({.random_drawn = true,
                                       .in_training_mode = 3,
                                       .declared = false,
                                       .steps_between = 8,
                                       .has_dropout = false});
            }}},
  };
}

}  // namespace dlcheck::evaluation
