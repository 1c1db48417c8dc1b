#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&,
                              const Stated<Quantity::kWeightedLogProbability>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        "The log-probability of an action is multiplied by values that have a gradient, too."));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kWeightedLogProbability, "operation", "log_prob", value, aux, times);
}

}  // namespace

Check AdvantageWithGradient() {
  return {
      .id = "training_loop/advantage_with_gradient",
      .title = "The weight of a log-probability has a gradient",
      .promise = "The weight of the log-probability of an action is a constant.",
      .why =
          "With the values of a critic in the advantage, the policy loss also trains the "
          "critic, to make good actions look bad.",
      .method =
          "Reads the autograd graphs of the first three steps of each model. Reports a product of "
          "the "
          "log-probability of a chosen action with values of a layer.",
      .fix = "Detach the values: advantage = returns - values.detach().",
      .limits = {.needs = "A program whose modules are not compiled.",
                 .silent_when = "The weight is detached, or the product is an entropy or a "
                                "divergence.",
                 .severity = "Always a warning: a program may want this gradient.",
                 .blind_spots = "Continuous actions.",
                 .sensitivity = ""},
      .python = {.bad = R"(advantage = returns - critic(states)
loss = -(policy.log_prob(actions) * advantage).mean())",
                 .good = R"(advantage = returns - critic(states).detach()
loss = -(policy.log_prob(actions) * advantage).mean())"},
      .cpp = {.bad = R"(auto advantage = returns - critic(states);
auto loss = -(log_prob * advantage).mean();)",
              .good = R"(auto advantage = returns - critic(states).detach();
auto loss = -(log_prob * advantage).mean();)"},
      .sources = {"Sutton et al. 2000: the policy gradient theorem"},
      .covers = {"advantage-with-gradient"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"constant weights", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"weights with a gradient", Expect::kWarning, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::training_loop
