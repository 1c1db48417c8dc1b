#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kBroadcastMetric>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const std::string rows = Short(statement.value);
    const bool outputs_have_a_column = statement.aux > 0;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(outputs_have_a_column
                   ? StrCat("Outputs of shape [", rows, ", 1] meet targets of shape [", rows, "].")
                   : StrCat("Outputs of shape [", rows, "] meet targets of shape [", rows, ", 1]."),
               " They broadcast to [", rows, ", ", rows,
               "]: each output is compared with every target."),
        statement.name));
  }
  return verdict;
}

Evidence With(double outputs_have_a_column, int times = 1) {
  return Stating(Quantity::kBroadcastMetric, "variable", "accuracy", 64, outputs_have_a_column,
                 times);
}

}  // namespace

Check BroadcastMetric() {
  return {
      .id = "evaluation/broadcast_metric",
      .title = "A metric compares outputs with every target",
      .promise = "A metric compares each output with its own target.",
      .why =
          "The number is that of random pairs. It says nothing about the model, and PyTorch "
          "gives no warning.",
      .method =
          "Sees the shapes of outputs and targets in an evaluation. Reads from the program's "
          "source whether a line compares or subtracts them as they are.",
      .fix = "Give both the same shape, as with outputs.squeeze(1).",
      .limits = {.needs = "A Python program whose source can be read, with targets from a "
                          "DataLoader.",
                 .silent_when = "It is not sure that a side is the outputs or the targets.",
                 .severity = "Always a warning.",
                 .blind_spots = "Metrics in another file than the evaluation.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:  # y has the shape [64]
    hits = (model(x) > 0) == y.bool()  # model(x) has [64, 1]
    correct += hits.sum().item())",
                 .good = R"(for x, y in loader:
    hits = (model(x).squeeze(1) > 0) == y.bool()
    correct += hits.sum().item())"},
      .cpp = {},
      .sources = {"PyTorch documentation: broadcasting semantics"},
      .covers = {"metric-over-all-pairs"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"equal shapes", Expect::kClean, [] { return With(1, 0); }},
                   {"a column of outputs", Expect::kWarning, [] { return With(1); }},
                   {"a column of targets", Expect::kWarning, [] { return With(0); }}},
  };
}

}  // namespace dlcheck::evaluation
