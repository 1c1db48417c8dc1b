#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kUnkeptActions>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("The policy learns the log-probability of ",
               Counted(static_cast<int64_t>(statement.value), "action"),
               " that log_prob() was given as they were drawn. Nobody else can have used them.")));
  }
  return verdict;
}

Evidence With(double value, int times = 1) {
  return Stating(Quantity::kUnkeptActions, "distribution", "log_prob", value, 0, times);
}

}  // namespace

Check UnkeptActions() {
  return {
      .id = "training_loop/unkept_actions",
      .title = "The policy learns actions that nobody took",
      .promise = "A policy learns the log-probability of actions that the environment was given.",
      .why =
          "The reward belongs to another action. On average the gradient is zero, and the policy "
          "does not learn.",
      .method =
          "Compares the number of references to each action that log_prob() is given, with a "
          "gradient, with that of a temporary object.",
      .fix =
          "Draw the action once: action = dist.sample(). Give the same tensor to the environment "
          "and to dist.log_prob(action).",
      .limits =
          {.needs =
               "A Python program with Categorical, Normal or Bernoulli of torch.distributions.",
           .silent_when = "The log-probability of any other action has a gradient.",
           .severity = "Always a warning.",
           .blind_spots = "A second action that the program keeps in a variable.",
           .sensitivity = ""},
      .python = {.bad = R"(dist = Categorical(logits=policy(obs))
obs, reward, done = env.step(dist.sample().item())
log_probs.append(dist.log_prob(dist.sample())))",
                 .good = R"(dist = Categorical(logits=policy(obs))
action = dist.sample()
obs, reward, done = env.step(action.item())
log_probs.append(dist.log_prob(action)))"},
      .cpp = {},
      .sources = {"Williams 1992 (REINFORCE): the probability of the action that was taken"},
      .covers = {"actions-nobody-took"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"actions that are kept", Expect::kClean, [] { return With(200, 0); }},
                   {"actions drawn in the call", Expect::kWarning, [] { return With(200); }}},
  };
}

}  // namespace dlcheck::training_loop
