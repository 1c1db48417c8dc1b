#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::performance {
namespace {

constexpr double kFewestCalls = 16;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kEmptiedCache>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.value < kFewestCalls || 2 * statement.value < statement.aux) continue;
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat(statement.name, "() was called ", statement.value, " times in ",
                                statement.aux, " steps.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kEmptiedCache, "operation", "torch.cuda.empty_cache", value, aux, times);
}

}  // namespace

Check EmptiedCache() {
  return {
      .id = "performance/emptied_cache",
      .title = "empty_cache() is called at every step",
      .promise = "The cache of the allocator is kept from step to step.",
      .why =
          "After torch.cuda.empty_cache(), the next step must ask the driver for its memory "
          "again, which waits for the device.",
      .method = "Counts the calls that the program's own code makes, and the steps.",
      .fix =
          "Remove torch.cuda.empty_cache() from the loop. PyTorch reuses cached memory by "
          "itself.",
      .limits = {.needs = "A Python program with at least 16 such calls.",
                 .silent_when = "There are fewer calls than half of the steps.",
                 .severity = "Always a warning.",
                 .blind_spots = "Calls by libraries.",
                 .sensitivity = ""},
      .python = {.bad = R"(for x, y in loader:
    train_step(x, y)
    torch.cuda.empty_cache())",
                 .good = R"(for x, y in loader:
    train_step(x, y))"},
      .cpp = {},
      .sources = {"PyTorch documentation of torch.cuda.empty_cache"},
      .covers = {"cache-emptied-every-step"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no such call", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a call for each epoch", Expect::kClean, [] { return With(16, 4000); }},
                   {"a call for each step", Expect::kWarning, [] { return With(64, 64); }}},
  };
}

}  // namespace dlcheck::performance
