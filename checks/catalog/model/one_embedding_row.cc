#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kOnlyRow>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (4 * statement.last_step < stated.steps - 1) continue;
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat("Of the ", statement.aux, " rows of ", statement.name,
                                ", only row ", statement.value, " was asked for."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kOnlyRow, "module", "places", value, aux, times);
}

}  // namespace

Check OneEmbeddingRow() {
  return {
      .id = "model/one_embedding_row",
      .title = "An embedding is always asked for the same row",
      .promise = "An embedding is asked for several of its rows.",
      .why =
          "With one row, the embedding adds the same vector everywhere. Positions that are all "
          "zero carry no order, and neither do classes that are all equal.",
      .method = "Compares the indices that an embedding gets in all recorded training forwards.",
      .fix = "Pass the index of each element, as torch.arange(length) for positions.",
      .limits = {.needs = "A Python program with an optimizer step, or a C++ program that is "
                          "watched as it is.",
                 .silent_when = "The table has fewer than four rows, or fewer than eight forwards "
                                "were recorded.",
                 .severity = "Always a warning: a table may have rows for later use.",
                 .blind_spots = "Calls of F.embedding.",
                 .sensitivity = ""},
      .python = {.bad = R"(positions = torch.zeros_like(tokens)
x = self.words(tokens) + self.places(positions))",
                 .good = R"(positions = torch.arange(tokens.shape[1])
x = self.words(tokens) + self.places(positions))"},
      .cpp = {.bad = R"(auto positions = torch::zeros_like(tokens);
auto x = words(tokens) + places(positions);)",
              .good = R"(auto positions = torch::arange(tokens.size(1));
auto x = words(tokens) + places(positions);)"},
      .sources = {"own reasoning: a constant vector carries no position"},
      .covers = {"wrong-positions"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"many rows", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"one row", Expect::kWarning, [] { return With(0, 64, 16); }}},
  };
}

}  // namespace dlcheck::model
