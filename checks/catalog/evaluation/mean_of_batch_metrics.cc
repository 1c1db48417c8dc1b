#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kAveragedMetric>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, statement.value == 1 ? Severity::kWarning : Severity::kNote,
        StrCat(statement.name, " is the mean of ",
               statement.value == 1 ? "the perplexities" : "a quotient such as F1",
               " of single batches. ", statement.value == 1 ? "The perplexity" : "The quotient",
               " of all samples is another number.")));
  }
  return verdict;
}

Evidence With(double value, int times = 1) {
  return Stating(Quantity::kAveragedMetric, "variable", "total", value, 0, times);
}

}  // namespace

Check MeanOfBatchMetrics() {
  return {
      .id = "evaluation/mean_of_batch_metrics",
      .title = "F1 or perplexity of batches is averaged",
      .promise = "Metrics that are no mean over samples are computed once, over all samples.",
      .why =
          "The number depends on the batch size. The perplexity comes out too high, and F1 too "
          "high or too low.",
      .method =
          "Reads from the source which numbers an evaluation computes for each batch and divides "
          "by the number of batches.",
      .fix = "Add up losses or counts over all batches. Compute the metric once behind the loop.",
      .limits = {.needs = "A Python program whose source is there.",
                 .silent_when = "The metric is kept for each batch and not averaged.",
                 .severity =
                     "Warning for a perplexity. Note for a quotient, whose mean may be meant.",
                 .blind_spots =
                     "Metrics of functions of the program itself, and means that a library takes.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    total += math.exp(criterion(model(x), y).item())
perplexity = total / len(loader))",
                 .good = R"(for x, y in loader:
    total += criterion(model(x), y).item() * len(y)
perplexity = math.exp(total / len(loader.dataset)))"},
      .cpp = {},
      .sources = {"own reasoning: the mean of exponentials is larger than the exponential of the "
                  "mean (Jensen)"},
      .covers = {"mean-of-batch-metrics"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a metric of all samples", Expect::kClean, [] { return With(1, 0); }},
                   {"a mean of perplexities", Expect::kWarning, [] { return With(1); }},
                   {"a mean of F1", Expect::kNote, [] { return With(2); }}},
  };
}

}  // namespace dlcheck::evaluation
