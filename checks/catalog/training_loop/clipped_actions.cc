#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kClippedActions>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat(Short(100 * statement.value), " % of ", statement.aux,
                                " actions given to log_prob lie on a bound and were never drawn: "
                                "they were clipped first.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kClippedActions, "distribution", "Normal", value, aux, times);
}

}  // namespace

Check ClippedActions() {
  return {
      .id = "training_loop/clipped_actions",
      .title = "Log-probabilities are of clipped actions",
      .promise = "A policy learns from the log-probabilities of the actions that it drew.",
      .why =
          "A clipped action is not the one that was drawn, and its probability is another. "
          "The gradient pushes the mean toward or beyond the bound.",
      .method =
          "Compares the actions that log_prob of torch.distributions.Normal is given in "
          "training with the samples of such distributions.",
      .fix = "Keep the action as drawn for log_prob, and clip only what the environment gets.",
      .limits =
          {.needs =
               "A Python program that samples from torch.distributions.Normal, and 256 actions.",
           .silent_when = "Fewer than 2 % of the actions lie on a bound.",
           .severity = "Always a note: some programs accept the bias.",
           .blind_spots = "Other distributions, and actions that are scaled.",
           .sensitivity = ""},
      .python = {.bad = R"(action = dist.sample().clamp(-1, 1)
loss = -(policy(obs).log_prob(action) * advantage).mean())",
                 .good = R"(action = dist.sample()
env.step(action.clamp(-1, 1))
loss = -(policy(obs).log_prob(action) * advantage).mean())"},
      .cpp = {},
      .sources = {"Fujita and Maeda 2018, Clipped action policy gradient"},
      .covers = {"clipped-before-log-probability"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"actions as drawn", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"clipped actions", Expect::kNote, [] { return With(0.3, 256); }}},
  };
}

}  // namespace dlcheck::training_loop
