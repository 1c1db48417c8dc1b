#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kTimeLimitAsEnd>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("The target of ", Counted(static_cast<int64_t>(statement.value), "row"),
               " is the reward alone. The time limit of gymnasium stopped these episodes, and they "
               "had not ended.")));
  }
  return verdict;
}

Evidence With(double value, int times = 1) {
  return Stating(Quantity::kTimeLimitAsEnd, "loss", "smooth_l1_loss", value, 40, times);
}

}  // namespace

Check TimeLimitAsEnd() {
  return {
      .id = "training_loop/time_limit_as_end",
      .title = "Stopped episodes are taken for ended ones",
      .promise =
          "The target of a transition that a time limit stops holds the value of the next state.",
      .why =
          "States near the limit look worthless, although nothing bad happens there. Equal states "
          "get different targets.",
      .method =
          "Keeps the states in which the TimeLimit wrapper of gymnasium stopped an episode. Looks "
          "for them among the next states of a batch, and compares the targets of these rows with "
          "their rewards.",
      .fix =
          "Store terminated, not terminated or truncated. Multiply the value of the next state by "
          "1 - terminated.",
      .limits = {.needs = "A Python program with gymnasium, a replay buffer, and a loss of torch "
                          "on the targets.",
                 .silent_when = "Any such row has another target than its reward.",
                 .severity = "Always a warning.",
                 .blind_spots = "Rewards that are scaled or clipped after the time limit, and "
                                "returns that are summed along episodes.",
                 .sensitivity = ""},
      .python = {.bad = R"(obs, reward, terminated, truncated, _ = env.step(action)
done = terminated or truncated
target = reward + 0.99 * target_net(obs).max() * (1 - done))",
                 .good = R"(obs, reward, terminated, truncated, _ = env.step(action)
target = reward + 0.99 * target_net(obs).max() * (1 - terminated)
done = terminated or truncated  # begins a new episode)"},
      .cpp = {},
      .sources = {"Pardo et al. 2018: time limits in reinforcement learning"},
      .covers = {"time-limit-as-end"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"values behind the limit", Expect::kClean, [] { return With(9, 0); }},
                   {"rewards alone at the limit", Expect::kWarning, [] { return With(9); }}},
  };
}

}  // namespace dlcheck::training_loop
