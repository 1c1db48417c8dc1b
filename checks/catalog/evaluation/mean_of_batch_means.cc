#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kMeanOfBatchMeans>& losses,
                              const Stated<Quantity::kUnequalBatches>& others) {
  Verdict verdict = NothingStated(losses);
  for (const Statement& statement : losses.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat(statement.name,
               " averages the means of batches that differ in size: ", Short(statement.value),
               ". The mean over all targets is ", Short(statement.aux), "."),
        statement.name));
  }
  for (const Statement& statement : others.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat(statement.name, " averages the means of batches that have ", Short(statement.value),
               " to ", Short(statement.aux), " samples. Samples of a small batch count more."),
        statement.name));
  }
  return verdict;
}

Evidence With(double means, double whole, int times = 1) {
  return Stating(Quantity::kMeanOfBatchMeans, "variable", "total", means, whole, times);
}

}  // namespace

Check MeanOfBatchMeans() {
  return {
      .id = "evaluation/mean_of_batch_means",
      .title = "Batches of different size count alike",
      .promise = "Each sample of an evaluation counts as much as any other.",
      .why = "The number depends on the batch size, and differs between set-ups.",
      .method =
          "Reads from the program's source what an evaluation adds up, and by what it divides the "
          "sum. Compares with the mean over all targets.",
      .fix = "Add loss.item() * len(x) for each batch, and divide by the number of samples.",
      .limits = {.needs = "A Python program whose source can be read.",
                 .silent_when = "All batches have the same number of targets.",
                 .severity = "Always a note, as the difference is often small.",
                 .blind_spots = "Sums that another function or file divides.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:  # the last batch is smaller
    total += F.cross_entropy(model(x), y).item()
print(total / len(loader)))",
                 .good = R"(for x, y in loader:
    total += F.cross_entropy(model(x), y).item() * len(x)
print(total / len(loader.dataset)))"},
      .cpp = {},
      .sources = {"own reasoning: a mean of means weights small batches like large ones"},
      .covers = {"mean-of-batch-means"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"batches of one size", Expect::kClean, [] { return With(0.5, 0.5, 0); }},
                   {"a smaller last batch", Expect::kNote, [] { return With(0.6, 0.5); }}},
  };
}

}  // namespace dlcheck::evaluation
