#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&,
                              const Stated<Quantity::kVarianceAsDeviation>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(statement, Severity::kWarning,
                                                "Noise is multiplied by exp(v), and exp(v) is a "
                                                "term of the loss, as for a log-variance v. The "
                                                "standard deviation is exp(0.5 * v)."));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kVarianceAsDeviation, "operation", "exp", value, aux, times);
}

}  // namespace

Check LogVarianceAsLogStd() {
  return {
      .id = "training_loop/log_variance_as_log_std",
      .title = "A variance scales the noise of a sample",
      .promise = "A sample is drawn with the standard deviation that its divergence takes.",
      .why =
          "The samples have another distribution than the one that the divergence is "
          "computed for. The bound is wrong.",
      .method =
          "Finds in the autograd graph two exponentials of the same numbers. One multiplies "
          "noise, and the other is a term of a sum.",
      .fix = "Halve the log-variance: z = mu + torch.randn_like(mu) * torch.exp(0.5 * logvar).",
      .limits = {.needs = "A program whose noise is a tensor on the CPU or CUDA.",
                 .silent_when = "",
                 .severity = "Always a warning.",
                 .blind_spots = "A divergence from torch.distributions, and compiled functions.",
                 .sensitivity = ""},
      .python = {.bad = R"(z = mu + torch.randn_like(mu) * logvar.exp()
kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1))",
                 .good = R"(z = mu + torch.randn_like(mu) * (0.5 * logvar).exp()
kl = -0.5 * (1 + logvar - mu**2 - logvar.exp()).sum(1))"},
      .cpp = {.bad = R"(auto z = mu + torch::randn_like(mu) * logvar.exp();
auto kl = -0.5 * (1 + logvar - mu.square() - logvar.exp()).sum(1);)",
              .good = R"(auto z = mu + torch::randn_like(mu) * (0.5 * logvar).exp();
auto kl = -0.5 * (1 + logvar - mu.square() - logvar.exp()).sum(1);)"},
      .sources =
          {"Kingma and Welling 2013, appendix B: the divergence of two normal distributions"},
      .covers = {"log-variance-as-log-deviation"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"the standard deviation", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"the variance", Expect::kWarning, [] { return With(1, 0); }}},
  };
}

}  // namespace dlcheck::training_loop
