#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kSharedRows>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kNote,
        StrCat(statement.value, " columns of ids look up the same rows of ", statement.name,
               ". It has ", statement.aux, " rows, enough for each kind to have its own."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kSharedRows, "embedding", "table", value, aux, times);
}

}  // namespace

Check OverlappingIds() {
  return {
      .id = "model/overlapping_ids",
      .title = "Several kinds of ids share rows of an embedding",
      .promise = "Ids of different kinds have rows of their own in an embedding.",
      .why =
          "User 7 and item 7 then are one vector, which has to serve both. The rest of the "
          "table is never trained.",
      .method =
          "Takes the largest id of each column. Reports a table whose rows suffice for all "
          "columns together, where all of them begin at 0.",
      .fix = "Add an offset to each column: table(ids + torch.tensor([0, users])).",
      .limits = {.needs =
                     "A program that looks up two to sixteen columns of ids, on the CPU or CUDA.",
                 .silent_when = "All columns have the same range, as tokens have.",
                 .severity = "Always a note: a table may have rows to spare.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(table = nn.Embedding(users + items, 16)
vectors = table(torch.stack([user, item], dim=1)))",
                 .good = R"(table = nn.Embedding(users + items, 16)
vectors = table(torch.stack([user, users + item], dim=1)))"},
      .cpp = {.bad = R"(nn::Embedding table(users + items, 16);
auto vectors = table(torch::stack({user, item}, 1));)",
              .good = R"(nn::Embedding table(users + items, 16);
auto vectors = table(torch::stack({user, users + item}, 1));)"},
      .sources = {"own reasoning: the size of the table says how many rows were meant"},
      .covers = {"overlapping-ids"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"rows for each kind", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"users and items share rows", Expect::kNote, [] { return With(2, 350); }}},
  };
}

}  // namespace dlcheck::model
