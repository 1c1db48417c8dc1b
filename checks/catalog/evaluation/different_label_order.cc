#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kEvaluationClasses>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat(statement.value,
                                " classes that the model predicts in an evaluation stand for "
                                "another label each: with them exchanged, it is right for ",
                                Short(100 * statement.aux), " % of the samples."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kEvaluationClasses, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check DifferentLabelOrder() {
  return {
      .id = "evaluation/different_label_order",
      .title = "Labels of an evaluation have another order",
      .promise = "An evaluation numbers its classes as the training does.",
      .why =
          "The model is right, and its evaluation says that it is wrong. One folder or list "
          "of names less is enough for that.",
      .method =
          "Counts which class the model prefers for each label of an evaluation. Reports "
          "classes that another label takes in 60 % of its samples, one for one.",
      .fix = "Use one list of class names for all data sets. Compare class_to_idx of both.",
      .limits = {.needs =
                     "A program that calls cross_entropy or nll_loss in its evaluation. It needs "
                     "three classes, and five samples a class on the CPU or CUDA.",
                 .silent_when = "The model agrees with fewer than 70 % of the labels in any order.",
                 .severity = "Always a warning.",
                 .blind_spots = "Evaluations that compute no loss.",
                 .sensitivity = ""},
      .python = {.bad = R"(train = {name: i for i, name in enumerate(names)}
val = {name: i for i, name in enumerate(sorted(names))})",
                 .good = R"(number = {name: i for i, name in enumerate(names)}  # for both)"},
      .cpp = {.bad = R"(auto train = NumbersOf(names);
std::sort(names.begin(), names.end());
auto val = NumbersOf(names);)",
              .good = "auto numbers = NumbersOf(names);  // for both"},
      .sources = {"own reasoning: a model that is wrong in the same way for a whole class is not "
                  "wrong by chance"},
      .covers = {"different-label-order"},
      .explains = {"evaluation/rising_loss"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"one order", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"four classes exchanged", Expect::kWarning, [] { return With(4, 0.93); }}},
  };
}

}  // namespace dlcheck::evaluation
