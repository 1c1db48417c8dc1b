#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::checkpoint {
namespace {

constexpr double kHighestLoss = 1;  // the other kind: the fewest correct predictions

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kWorstKept>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat(statement.name,
               statement.value == kHighestLoss
                   ? ", a loss, becomes the best value where it is above all before. "
                   : ", a share of correct predictions, becomes the best value where it is below "
                     "all before. ",
               statement.aux > 0 ? "The weights of that moment are kept."
                                 : "Early stopping counts from there."),
        statement.name));
  }
  return verdict;
}

Evidence With(double kind, int times = 1) {
  return Stating(Quantity::kWorstKept, "variable", "value", kind, 1, times);
}

}  // namespace

Check WorstTakenForBest() {
  return {
      .id = "checkpoint/worst_taken_for_best",
      .title = "The worst result is taken for the best",
      .promise = "The best result is the lowest loss or the highest accuracy.",
      .why = "The weights that are kept are the worst ones, or training stops while it goes well.",
      .method =
          "Sees which lines compute a loss. Reads from the program's source which comparison "
          "decides "
          "that weights are kept, or that early stopping starts to count.",
      .fix = "Turn the comparison around: a loss is better where it is lower than before.",
      .limits = {.needs = "A Python program whose source can be read.",
                 .silent_when = "It is not sure that the number is a loss or an accuracy.",
                 .severity = "Always a warning.",
                 .blind_spots =
                     "Libraries that keep the best model, and numbers from another file.",
                 .sensitivity = ""},
      .python = {.bad = R"(if loss > highest:
    highest = loss
    torch.save(model.state_dict(), "best.pt"))",
                 .good = R"(if loss < lowest:
    lowest = loss
    torch.save(model.state_dict(), "best.pt"))"},
      .cpp = {},
      .sources = {"own reasoning: a lower loss is a better model"},
      .covers = {"wrong-early-stopping"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"the lowest loss", Expect::kClean, [] { return With(1, 0); }},
                   {"the highest loss", Expect::kWarning, [] { return With(1); }},
                   {"the lowest accuracy", Expect::kWarning, [] { return With(2); }}},
  };
}

}  // namespace dlcheck::checkpoint
