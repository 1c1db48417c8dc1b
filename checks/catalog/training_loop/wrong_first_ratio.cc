#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kFirstRatio>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat(statement.value, " of ",
                                Counted(static_cast<int64_t>(statement.aux), "policy ratio"),
                                " are not 1, although the optimizer had not stepped yet.")));
  }
  return verdict;
}

Evidence With(double value, int times = 1) {
  return Stating(Quantity::kFirstRatio, "operation", "exp", value, 64, times);
}

}  // namespace

Check WrongFirstRatio() {
  return {
      .id = "training_loop/wrong_first_ratio",
      .title = "The first ratios of two policies are not 1",
      .promise =
          "Before the first step, the new and the old policy give the same log-probabilities.",
      .why =
          "The two log-probabilities belong to different actions or states, or to different "
          "dropout masks. The update then follows noise.",
      .method =
          "Reads from the autograd graph of the first step the exponentials that a clamp limits on "
          "both sides of 1.",
      .fix =
          "Pass the stored actions to the distribution of the new policy. Keep the order of rows "
          "of states, actions and log-probabilities. Call policy.eval() for both if the policy has "
          "dropout.",
      .limits = {.needs =
                     "A program that clamps the ratio, such as PPO, and whose first step uses it.",
                 .silent_when =
                     "Fewer than a tenth of the ratios differ from 1 by more than rounding.",
                 .severity = "Always a warning.",
                 .blind_spots = "A fault in a policy that was already trained in the same process.",
                 .sensitivity = ""},
      .python = {.bad = R"(dist = policy(obs)
log_prob = dist.log_prob(dist.sample())  # new actions
ratio = (log_prob - old_log_prob).exp()
gain = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv))",
                 .good = R"(dist = policy(obs)
log_prob = dist.log_prob(actions)  # those of the rollout
ratio = (log_prob - old_log_prob).exp()
gain = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv))"},
      .cpp =
          {.bad =
               R"(auto ratio = (LogProb(policy, states, Sample(policy)) - old).exp();  // new actions
auto gain = torch::min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage);)",
           .good =
               R"(auto ratio = (LogProb(policy, states, actions) - old).exp();  // those of the rollout
auto gain = torch::min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage);)"},
      .sources = {"Schulman et al. 2017 (PPO): the ratio is 1 at the old parameters"},
      .covers = {"wrong-old-log-probabilities", "actions-nobody-took"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"ratios of 1", Expect::kClean, [] { return With(60, 0); }},
                   {"ratios of other actions", Expect::kWarning, [] { return With(60); }}},
  };
}

}  // namespace dlcheck::training_loop
