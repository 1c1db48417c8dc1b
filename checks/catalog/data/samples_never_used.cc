#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::data {
namespace {

constexpr double kShare = 0.05;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUndrawnSamples>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const bool many = statement.value >= kShare * statement.aux;
    verdict.findings.push_back(StatementFinding(
        statement, many ? Severity::kWarning : Severity::kNote,
        StrCat(statement.value, " of ", statement.aux, " samples were drawn in no pass.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kUndrawnSamples, "loader", "", value, aux, times);
}

}  // namespace

Check SamplesNeverUsed() {
  return {
      .id = "data/samples_never_used",
      .title = "Some samples of the data set are never used",
      .promise = "Each sample of a data set is drawn in some pass.",
      .why =
          "The model never learns from the samples that are skipped, and no message says that "
          "the data set is smaller.",
      .method =
          "Follows the indices that the loaders of a data set draw, over at least three "
          "complete passes.",
      .fix =
          "Let the sampler draw all indices. Shuffle where drop_last=True leaves a part batch "
          "out.",
      .limits = {.needs = "A Python program with a DataLoader and a data set of at most 65,536 "
                          "samples.",
                 .silent_when = "A sampler of PyTorch for a part of the data is used, or later "
                                "passes draw new samples.",
                 .severity = "A warning from a twentieth of the samples on, a note below.",
                 .blind_spots = "Data that the program draws by itself.",
                 .sensitivity = ""},
      .python = {.bad = R"(sampler = list(range(len(data) // 2))
loader = DataLoader(data, 32, sampler=sampler))",
                 .good = R"(loader = DataLoader(data, 32, shuffle=True))"},
      .cpp = {},
      .sources = {"own reasoning: what is never drawn is not learned from"},
      .covers = {"biased-sampler"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"all samples", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a part batch skipped", Expect::kNote, [] { return With(3, 1003); }},
                   {"half of the samples", Expect::kWarning, [] { return With(500, 1000); }}},
  };
}

}  // namespace dlcheck::data
