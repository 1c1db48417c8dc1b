#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kIdenticalRows>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat("In all ", Short(statement.aux), " batches that were compared, the ",
               Short(statement.value), " rows are equal."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kIdenticalRows, "batch", "input of Generator", value, aux, times);
}

}  // namespace

Check IdenticalSamples() {
  return {
      .id = "data/identical_samples",
      .title = "All samples of a batch are the same one",
      .promise = "A batch holds different samples.",
      .why = "The gradient is that of one sample, and what the batch is to show the model is lost.",
      .method =
          "Compares the rows of each batch in the compared steps, with and without gradients. "
          "Reports batches whose rows are all equal while the batches differ.",
      .fix =
          "Draw or copy each row by itself: randn(n, d) and not randn(1, d).expand(n, d), and "
          "clone() what a buffer keeps.",
      .limits = {.needs =
                     "A program with batches of eight rows or more, of two numbers or more each.",
                 .silent_when =
                     "Any batch of the same input has different rows, or the inputs are learned.",
                 .severity = "Always a note: a program may draw several outputs for one sample.",
                 .blind_spots = "Batches in which only some rows are equal.",
                 .sensitivity = ""},
      .python = {.bad = R"(z = torch.randn(1, 16).expand(64, 16))",
                 .good = R"(z = torch.randn(64, 16))"},
      .cpp = {.bad = "auto z = torch::randn({1, 16}).expand({64, 16});",
              .good = "auto z = torch::randn({64, 16});"},
      .sources = {"own reasoning: a batch of equal rows is one sample"},
      .covers = {"identical-samples-in-batch"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"different rows", Expect::kClean, [] { return With(64, 8, 0); }},
                   {"equal rows", Expect::kNote, [] { return With(64, 8); }}},
  };
}

}  // namespace dlcheck::data
