#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::data {
namespace {

constexpr double kShare = 0.02;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kRepeatedSamples>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.value < kShare * statement.aux) continue;
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat(statement.value, " of the first ", statement.aux,
                                " samples of a pass are equal to one before.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kRepeatedSamples, "batch", "input", value, aux, times);
}

}  // namespace

Check DuplicatedSamples() {
  return {
      .id = "data/duplicated_samples",
      .title = "The training data contain samples twice",
      .promise = "A pass over the training data gives each sample once.",
      .why =
          "Repeated samples count more than others. A split made afterwards puts the same "
          "sample into both parts.",
      .method =
          "Compares the rows of the first pass over a loader, if they hold fractions, which "
          "are hardly ever equal by chance.",
      .fix = "Remove repeated samples, or give them a weight on purpose.",
      .limits = {.needs = "A program with a DataLoader.",
                 .silent_when = "Rows have fewer than eight entries, mostly whole numbers, or a "
                                "sampler draws with replacement.",
                 .severity = "Always a note: repetition may be meant.",
                 .blind_spots = "Samples beyond the first 64 steps.",
                 .sensitivity = ""},
      .python = {.bad = R"(files = glob("a/*.pt") + glob("**/*.pt")
data = Samples(files))",
                 .good = R"(files = sorted(set(glob("**/*.pt")))
data = Samples(files))"},
      .cpp = {.bad = R"(auto files = Glob("a/*.pt");
for (auto& file : Glob("**/*.pt")) files.push_back(file);)",
              .good = R"(auto files = Glob("**/*.pt");)"},
      .sources = {"own reasoning: equal rows of fractions are no chance"},
      .covers = {"duplicated-training-samples"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"different samples", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"one in a thousand", Expect::kClean, [] { return With(1, 1000); }},
                   {"one in three", Expect::kNote, [] { return With(300, 900); }}},
  };
}

}  // namespace dlcheck::data
