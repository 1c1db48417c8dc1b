#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kConstantRatio>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kNote,
                         StrCat("All ", statement.value,
                                " ratios of the first three steps are exactly 1, so the clamp "
                                "around them never acts.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kConstantRatio, "operation", "exp", value, aux, times);
}

}  // namespace

Check ConstantRatio() {
  return {
      .id = "training_loop/constant_ratio",
      .title = "The ratio of two policies is always 1",
      .promise =
          "The ratio of the new and the old policy leaves 1 after the first step on a "
          "batch.",
      .why =
          "The old log-probabilities were computed again with the new weights. Nothing then "
          "keeps the policy near the old one.",
      .method =
          "Reads from the autograd graphs of the first three steps the exponentials that a "
          "clamp limits.",
      .fix =
          "Compute the old log-probabilities once, under torch.no_grad() and before the "
          "first step on the batch.",
      .limits = {.needs = "A program that clamps the exponential of a difference.",
                 .silent_when = "",
                 .severity = "Always a note: with one step for each batch all ratios are 1.",
                 .blind_spots = "",
                 .sensitivity = ""},
      .python = {.bad = R"(for _ in range(epochs):
    old = policy.log_prob(obs, actions).detach()
    ratio = (policy.log_prob(obs, actions) - old).exp()
    gain = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv))",
                 .good = R"(old = policy.log_prob(obs, actions).detach()
for _ in range(epochs):
    ratio = (policy.log_prob(obs, actions) - old).exp()
    gain = torch.min(ratio * adv, ratio.clamp(0.8, 1.2) * adv))"},
      .cpp = {.bad = R"(for (int epoch = 0; epoch < epochs; ++epoch) {
  auto old = LogProb(policy, states, actions).detach();
  auto ratio = (LogProb(policy, states, actions) - old).exp();
  auto gain = torch::min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage);
})",
              .good = R"(auto old = LogProb(policy, states, actions).detach();
for (int epoch = 0; epoch < epochs; ++epoch) {
  auto ratio = (LogProb(policy, states, actions) - old).exp();
  auto gain = torch::min(ratio * advantage, ratio.clamp(0.8, 1.2) * advantage);
})"},
      .sources = {"Schulman et al. 2017 (PPO): the ratio to the policy before the update"},
      .covers = {"constant-policy-ratio"},
      .explains = {},
      .worst = Severity::kNote,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"ratios that move", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"ratios of 1", Expect::kNote, [] { return With(384, 0); }}},
  };
}

}  // namespace dlcheck::training_loop
