#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::data {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kContradictingRows>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (100 * statement.value < statement.aux) continue;
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat(statement.value, " of ", statement.aux,
                                " different inputs came with several targets up to step ",
                                statement.last_step, ".")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kContradictingRows, "batch", "input", value, aux, times);
}

}  // namespace

Check ContradictingTargets() {
  return {
      .id = "data/contradicting_targets",
      .title = "Equal inputs have different targets",
      .promise = "Samples with equal inputs have equal targets.",
      .why =
          "No model can be right for both, so the loss cannot fall below a bound. Often a "
          "label was shifted, targets were shuffled without their inputs, or a feature was lost.",
      .method =
          "Compares the targets of inputs that are equal bit for bit, for cross_entropy and "
          "nll_loss with one class for each sample.",
      .fix =
          "Look for the duplicates in the data set. Remove them, or find the feature that "
          "tells them apart.",
      .limits = {.needs = "A program with targets on the CPU or CUDA.",
                 .silent_when = "Fewer than one input of a hundred has several targets.",
                 .severity = "Always a note: real data may be ambiguous.",
                 .blind_spots = "Targets of other losses.",
                 .sensitivity = ""},
      .python = {.bad = R"(x = torch.cat([x, x])
y = torch.cat([y, y.roll(1)]))",
                 .good = R"(x, index = x.unique(dim=0, return_inverse=True)
y = majority(y, index))"},
      .cpp =
          {.bad = R"(x = torch::cat({x, x});
y = torch::cat({y, y.roll(1)});)",
           .good =
               R"(auto [rows, index, counts] = torch::unique_dim(x, 0, true, /*return_inverse=*/true);
y = Majority(y, index);)"},
      .sources = {"own reasoning: a function has one value for one input"},
      .covers = {"contradicting-labels", "mispaired-targets"},
      .explains = {"data/inconsistent_targets"},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kUsed,
      .also_at = {Event::kFetched},
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"one target for each input", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a rare exception", Expect::kClean, [] { return With(1, 4000); }},
                   {"many inputs with several targets", Expect::kNote,
                    [] { return With(300, 600); }}},
  };
}

}  // namespace dlcheck::data
