#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kEmptyPasses>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kError,
                         StrCat("The program went over its data ", statement.value,
                                " times and got no batch, so nothing was trained.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kEmptyPasses, "loader", "loader", value, aux, times);
}

}  // namespace

Check EmptyLoop() {
  return {
      .id = "training_loop/empty_loop",
      .title = "The training loop gets no batch",
      .promise = "A program that builds an optimizer also trains.",
      .why =
          "A loader without a batch ends the loop at once. The program goes on with an "
          "untrained model and without an error.",
      .method =
          "At the end of the program, looks for an optimizer, iterations over loaders, and "
          "no batch, backward or step.",
      .fix =
          "Check the length of the data set. With drop_last=True, it must be at least one "
          "batch long.",
      .limits = {.needs = "A Python program that trains with a DataLoader.",
                 .silent_when = "Any loader gives a batch, or no loader is used.",
                 .severity = "",
                 .blind_spots = "Loops over lists or functions.",
                 .sensitivity = ""},
      .python = {.bad = R"(loader = DataLoader(data, batch_size=64, drop_last=True)  # 40 samples
for x, y in loader:
    train_step(x, y))",
                 .good = R"(assert len(data) >= 64, len(data)
loader = DataLoader(data, batch_size=64, drop_last=True)
for x, y in loader:
    train_step(x, y))"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.utils.data.DataLoader: drop_last"},
      .covers = {"empty-training-loop"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a loop that trains", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"loops without a batch", Expect::kError, [] { return With(3, 0); }}},
  };
}

}  // namespace dlcheck::training_loop
