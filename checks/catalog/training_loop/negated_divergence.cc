#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kNegatedDivergence>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         "The loss adds v and subtracts exp(v), as in a divergence with the wrong "
                         "sign: it falls without limit "
                         "as v grows."));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kNegatedDivergence, "loss", "loss", value, aux, times);
}

}  // namespace

Check NegatedDivergence() {
  return {
      .id = "training_loop/negated_divergence",
      .title = "A divergence is subtracted from the loss",
      .promise = "A divergence from a prior is added to the loss.",
      .why =
          "The loss then pays for a distribution that is far from the prior. It falls "
          "without limit while the samples get worse.",
      .method =
          "Follows the signs of the terms of a loss in the autograd graph. Reports numbers "
          "that are added while their exponentials are subtracted.",
      .fix =
          "Add the divergence: loss = reconstruction + kl, with kl = -0.5 * (1 + logvar - "
          "mu**2 - logvar.exp()).sum().",
      .limits = {.needs = "A program that computes the divergence by hand.",
                 .silent_when = "",
                 .severity = "Always a warning.",
                 .blind_spots = "A divergence from torch.distributions.",
                 .sensitivity = ""},
      .python = {.bad = R"(kl = 0.5 * (1 + logvar - mu**2 - logvar.exp()).sum()
loss = reconstruction + kl)",
                 .good = R"(kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum()
loss = reconstruction + kl)"},
      .cpp = {.bad = R"(auto kl = 0.5 * (1 + logvar - mu.square() - logvar.exp()).sum();
auto loss = reconstruction + kl;)",
              .good = R"(auto kl = -0.5 * (1 + logvar - mu.square() - logvar.exp()).sum();
auto loss = reconstruction + kl;)"},
      .sources =
          {"Kingma and Welling 2013, appendix B: the divergence of two normal distributions"},
      .covers = {"inverted-loss-sign"},
      .explains = {"training_loop/diverging_loss", "gradients/exploding",
                   "numerics/nonfinite_values"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a divergence that is added", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"one that is subtracted", Expect::kWarning, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::training_loop
