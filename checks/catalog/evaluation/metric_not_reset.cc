#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

// `evaluations`: how many ran, or 0 of a sum of training, or -1 of a return.
std::string WrongWith(int64_t evaluations) {
  if (evaluations < 0) {
    return " adds up the rewards of an episode, and is not set back before the next one. It is the "
           "sum over all episodes so far.";
  }
  if (evaluations == 0) {
    return " grows with each batch of training, is not set back between epochs, and is divided by "
           "the size of one epoch. It grows from epoch to epoch.";
  }
  return StrCat(
      " grows with each batch of an evaluation, and is not set back before the next one. ",
      Counted(evaluations, "evaluation"),
      " ran. All but the first mix in the results of earlier ones.");
}

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUnresetMetric>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const auto evaluations = static_cast<int64_t>(statement.value);
    verdict.findings.push_back(StatementFinding(statement, Severity::kWarning,
                                                StrCat(statement.name, WrongWith(evaluations)),
                                                statement.name));
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
      .title = "A metric is not reset",
      .promise = "The numbers of an evaluation, epoch or episode come from that one alone.",
      .why =
          "The metric lags behind the model. It hides overfitting, and may keep the wrong "
          "checkpoint.",
      .method =
          "Reads from the program's source what the loop over an evaluation's batches, or over "
          "an episode's steps, adds up, and where it is reset.",
      .fix =
          "Set the variable to 0 before each evaluation or episode, or call reset() on the "
          "meter.",
      .limits = {.needs = "A Python program whose source can be read, with two evaluations or with "
                          "an environment that gives rewards.",
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
      .covers = {"metric-not-reset", "return-not-reset"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no such variable", Expect::kClean, [] { return With(2, 0); }},
                   {"a variable", Expect::kWarning, [] { return With(3); }},
                   {"a loss of training", Expect::kWarning, [] { return With(0); }},
                   {"a return", Expect::kWarning, [] { return With(-1); }}},
  };
}

}  // namespace dlcheck::evaluation
