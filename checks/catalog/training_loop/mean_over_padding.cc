#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kPaddedMean>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat("The loss is masked to ", Short(100 * statement.value), " % of ",
                                statement.aux, " positions, but its mean runs over all of them.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kPaddedMean, "loss", "loss", value, aux, times);
}

}  // namespace

Check MeanOverPadding() {
  return {
      .id = "training_loop/mean_over_padding",
      .title = "A masked loss is averaged over the padding",
      .promise = "A loss that a mask limits to real positions is divided by their number.",
      .why =
          "The loss and its gradients get smaller the more padding a batch has. Batches "
          "with one long text count least.",
      .method =
          "Reads from the autograd graph of the first steps whether a mean follows a "
          "product with a mask. The mask has rows of three lengths or more.",
      .fix = "Divide by the number of real positions: (loss * mask).sum() / mask.sum().",
      .limits = {.needs = "A program with a mask of 0 and 1, ones first, for the loss of each "
                          "position.",
                 .silent_when = "All rows have the same length.",
                 .severity = "Always a note: a fixed divisor may be meant.",
                 .blind_spots = "Masks that select positions, and sums that are divided later.",
                 .sensitivity = ""},
      .python = {.bad = R"(loss = F.cross_entropy(logits, y, reduction="none")
loss = (loss * mask).mean())",
                 .good = R"(loss = F.cross_entropy(logits, y, reduction="none")
loss = (loss * mask).sum() / mask.sum())"},
      .cpp = {.bad = R"(auto options = F::CrossEntropyFuncOptions().reduction(torch::kNone);
auto loss = (F::cross_entropy(logits, y, options) * mask).mean();)",
              .good = R"(auto options = F::CrossEntropyFuncOptions().reduction(torch::kNone);
auto loss = (F::cross_entropy(logits, y, options) * mask).sum() / mask.sum();)"},
      .sources = {"own reasoning: the gradient of a position must not depend on the padding of "
                  "others"},
      .covers = {"wrong-tokens-in-loss"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no mask", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a mean over all positions", Expect::kNote, [] { return With(0.5, 2880); }}},
  };
}

}  // namespace dlcheck::training_loop
