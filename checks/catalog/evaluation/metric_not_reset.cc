#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUnresetMetric>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const auto evaluations = static_cast<int64_t>(statement.value);
    const std::string said =
        evaluations == 0
            ? " grows with each batch of training, is not set back between epochs, and is divided "
              "by the size of one epoch. It grows from epoch to epoch."
            : StrCat(
                  " grows with each batch of an evaluation, and is not set back before the next "
                  "one. ",
                  Counted(evaluations, "evaluation"),
                  " ran. All but the first mix in the results of earlier ones.");
    verdict.findings.push_back(StatementFinding(statement, Severity::kWarning,
                                                StrCat(statement.name, said), statement.name));
  }
  return verdict;
}

Evidence With(double evaluations, int times = 1) {
  return Stating(Quantity::kUnresetMetric, "variable", "correct", evaluations, 0, times);
}

}  // namespace

Check MetricNotReset() {
  return {
      .id = "evaluation/metric_not_reset",
      .title = "A metric is not reset between evaluations",
      .promise = "The numbers of an evaluation or epoch come from that one alone.",
      .why =
          "The metric lags behind the model. It hides overfitting, and may keep the wrong "
          "checkpoint.",
      .method =
          "Reads from the program's source what the loop over an evaluation's batches adds up, "
          "and where it is reset.",
      .fix = "Set the variable to 0 before each evaluation, or call reset() on the meter.",
      .limits = {.needs =
                     "A Python program that evaluates twice or more, whose source can be read.",
                 .silent_when = "The variable is reset, or passed to another function.",
                 .severity = "Always a warning.",
                 .blind_spots = "Meters that come from another file, unless from torchmetrics or "
                                "torcheval. Metrics that are no mean or share.",
                 .sensitivity = ""},
      .python = {.bad = R"(correct = total = 0
for epoch in range(10):
    train(model)
    for x, y in test_loader:
        correct += (model(x).argmax(1) == y).sum().item()
        total += len(y)
    print(correct / total))",
                 .good = R"(for epoch in range(10):
    train(model)
    correct = total = 0
    for x, y in test_loader:
        correct += (model(x).argmax(1) == y).sum().item()
        total += len(y)
    print(correct / total))"},
      .cpp = {},
      .sources = {"own reasoning: a sum over all evaluations is not the sum over the latest"},
      .covers = {"metric-not-reset"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no such variable", Expect::kClean, [] { return With(2, 0); }},
                   {"a variable", Expect::kWarning, [] { return With(3); }},
                   {"a loss of training", Expect::kWarning, [] { return With(0); }}},
  };
}

}  // namespace dlcheck::evaluation
