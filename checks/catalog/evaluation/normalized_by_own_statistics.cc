#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::evaluation {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kOwnStatistics>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(statement.value == 1 ? "Each entry of the inputs of an evaluation has"
                                    : "The inputs of an evaluation have",
               " mean 0 and standard deviation 1 over its ", statement.aux,
               " samples: their own statistics normalized them.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kOwnStatistics, "model", "Net", value, aux, times);
}

}  // namespace

Check NormalizedByOwnStatistics() {
  return {
      .id = "evaluation/normalized_by_own_statistics",
      .title = "Evaluation data are normalized by themselves",
      .promise = "Evaluation data are normalized by the statistics of the training data.",
      .why =
          "A shift between the two sets is subtracted with the mean, so the evaluation does not "
          "see "
          "it. In use, a model gets single samples, which have no mean of their own.",
      .method =
          "Takes means and standard deviations over all samples of an evaluation. Those of "
          "other data are 0 and 1 only to two or three digits.",
      .fix =
          "Compute mean and standard deviation on the training data, keep them, and apply "
          "them to all data.",
      .limits = {.needs = "A program, and an evaluation of 32 to 64 batches at most with inputs of "
                          "fractions on the CPU or CUDA.",
                 .silent_when =
                     "The samples were trained on, or each sample is normalized by itself.",
                 .severity = "Always a warning.",
                 .blind_spots = "Statistics over all data together.",
                 .sensitivity = ""},
      .python = {.bad = R"(x_train = (x_train - x_train.mean(0)) / x_train.std(0)
x_val = (x_val - x_val.mean(0)) / x_val.std(0))",
                 .good = R"(mean, std = x_train.mean(0), x_train.std(0)
x_train = (x_train - mean) / std
x_val = (x_val - mean) / std)"},
      .cpp = {.bad = R"(x_train = (x_train - x_train.mean(0)) / x_train.std(0);
x_val = (x_val - x_val.mean(0)) / x_val.std(0);)",
              .good = R"(auto mean = x_train.mean(0), deviation = x_train.std(0);
x_train = (x_train - mean) / deviation;
x_val = (x_val - mean) / deviation;)"},
      .sources = {"own reasoning: the mean of n other samples is off by 1 / sqrt(n)"},
      .covers = {"evaluation-normalized-by-itself"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kEvaluationForward,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"other statistics", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"each entry by itself", Expect::kWarning, [] { return With(1, 500); }},
                   {"all entries together", Expect::kWarning, [] { return With(2, 500); }}},
  };
}

}  // namespace dlcheck::evaluation
