#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kSameRows>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat("The first 16 sampled steps trained on the same ", statement.aux,
                                " of the ", statement.value, " rows of a tensor.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kSameRows, "batch", "input", value, aux, times);
}

}  // namespace

Check SameRowsDrawn() {
  return {
      .id = "data/same_rows_drawn",
      .title = "Every step draws the same rows",
      .promise = "Steps draw different rows of the data.",
      .why = "The model memorizes a few rows and never sees the rest of the data.",
      .method =
          "Compares the rows of the batches of 16 steps. If all are equal, looks for a tensor of "
          "the program with these rows and at least as many others.",
      .fix =
          "Draw the indices in each step, and set the seed of their generator once, before the "
          "loop.",
      .limits = {.needs = "A program that indexes a tensor on the CPU or CUDA, and 16 sampled "
                          "steps.",
                 .silent_when = "The batch is a slice, is one object in all steps, or has more "
                                "than half of the rows.",
                 .severity = "Always a note: the indices of the training part may be meant.",
                 .blind_spots = "Data in a list, and data of which the model gets a changed copy.",
                 .sensitivity = ""},
      .python = {.bad = R"(for step in range(steps):
    g = torch.Generator().manual_seed(0)
    i = torch.randint(len(x), (64,), generator=g)
    train_step(model, optimizer, x[i], y[i]))",
                 .good = R"(g = torch.Generator().manual_seed(0)
for step in range(steps):
    i = torch.randint(len(x), (64,), generator=g)
    train_step(model, optimizer, x[i], y[i]))"},
      .cpp = {.bad = R"(for (int step = 0; step < steps; ++step) {
  torch::manual_seed(0);
  auto rows = torch::randint(x.size(0), {64});
  TrainStep(model, optimizer, x.index({rows}), y.index({rows}));
})",
              .good = R"(torch::manual_seed(0);
for (int step = 0; step < steps; ++step) {
  auto rows = torch::randint(x.size(0), {64});
  TrainStep(model, optimizer, x.index({rows}), y.index({rows}));
})"},
      .sources = {"own reasoning"},
      .covers = {"one-batch-repeated"},
      .explains = {"learnability/no_better_than_constant"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"other rows in each step", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"the same rows in each step", Expect::kNote, [] { return With(4000, 64); }}},
  };
}

}  // namespace dlcheck::data
