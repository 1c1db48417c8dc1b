#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

constexpr int64_t kFewestSteps = 3;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kIgnoredInMean>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.count < kFewestSteps) continue;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("The mean of the loss counts ", statement.value, " ignored targets among ",
               statement.aux, " in step ", statement.last_step, ": more padding makes it smaller."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kIgnoredInMean, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check IgnoredTargetsInMean() {
  return {
      .id = "training_loop/ignored_targets_in_mean",
      .title = "A mean loss counts ignored targets",
      .promise = "A mean over losses counts only the targets that are not ignored.",
      .why =
          "With reduction=\"none\", ignored targets have a loss of zero. A mean over all of "
          "them grows smaller with each bit of padding.",
      .method =
          "Marks losses with reduction=\"none\" and ignored targets. Reports a backward "
          "that starts from a mean over all of them.",
      .fix =
          "Divide by the number of targets that count: loss.sum() / (target != "
          "ignore_index).sum().",
      .limits = {.needs = "A program that calls cross_entropy or nll_loss with "
                          "reduction=\"none\", and three steps.",
                 .silent_when = "Anything but views and constant factors lies between the losses "
                                "and the mean.",
                 .severity = "Always a warning: a program may want a constant denominator.",
                 .blind_spots = "Masks that the program multiplies by itself.",
                 .sensitivity = ""},
      .python = {.bad = R"(loss = F.cross_entropy(scores, y, ignore_index=0, reduction="none")
loss.mean().backward())",
                 .good = R"(loss = F.cross_entropy(scores, y, ignore_index=0, reduction="none")
(loss.sum() / (y != 0).sum()).backward())"},
      .cpp =
          {.bad =
               R"(auto options = F::CrossEntropyFuncOptions().ignore_index(0).reduction(torch::kNone);
auto loss = F::cross_entropy(scores, y, options).mean();)",
           .good =
               R"(auto options = F::CrossEntropyFuncOptions().ignore_index(0).reduction(torch::kNone);
auto loss = F::cross_entropy(scores, y, options).sum() / (y != 0).sum();)"},
      .sources = {"PyTorch documentation of cross_entropy: ignore_index"},
      .covers = {"ignored-targets-in-denominator"},
      .explains = {"training_loop/split_dependence"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"means over what counts", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"in a single step", Expect::kClean, [] { return With(7, 32); }},
                   {"zeros of ignored targets in the mean", Expect::kWarning,
                    [] { return With(7, 32, 8); }}},
  };
}

}  // namespace dlcheck::training_loop
