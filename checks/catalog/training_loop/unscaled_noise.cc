#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/engine/text.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kNoiseFactor>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat("The factor of the ", statement.value == 1 ? "noise" : "data",
                                " is a share of the variance in each of ",
                                Counted(static_cast<int64_t>(statement.aux), "sample"),
                                ". The other factor is the root of its share.")));
  }
  return verdict;
}

Evidence With(double value, int times = 1) {
  return Stating(Quantity::kNoiseFactor, "loss", "mse_loss", value, 64, times);
}

}  // namespace

Check UnscaledNoise() {
  return {
      .id = "training_loop/unscaled_noise",
      .title = "Noise is added with a variance as its factor",
      .promise = "The squares of both factors add up to 1: sqrt(a) * x0 + sqrt(1 - a) * noise.",
      .why =
          "The noise is too weak or too strong at each time step. Sampling, which uses the right "
          "formula, starts from inputs that the model never saw.",
      .method =
          "Finds the data among all tensors. Solves for the factor of the data and of the noise in "
          "each sample, and compares their squares.",
      .fix =
          "Take the square root of both: alpha_bar.sqrt() * x0 + (1 - alpha_bar).sqrt() * noise.",
      .limits = {.needs = "A Python program whose loss has the noise as its target, and whose data "
                          "are a tensor of the same shape.",
                 .silent_when = "The factors follow another rule, such as those of flow matching "
                                "or of variance-exploding diffusion.",
                 .severity = "Always a warning.",
                 .blind_spots = "Models that predict the data or a velocity.",
                 .sensitivity = ""},
      .python = {.bad = R"(a = alpha_bar[t][:, None]
noise = torch.randn_like(x0)
noisy = a.sqrt() * x0 + (1 - a) * noise  # no root
loss = F.mse_loss(model(noisy, t), noise))",
                 .good = R"(a = alpha_bar[t][:, None]
noise = torch.randn_like(x0)
noisy = a.sqrt() * x0 + (1 - a).sqrt() * noise
loss = F.mse_loss(model(noisy, t), noise))"},
      .cpp = {},
      .sources = {"Ho et al. 2020 (DDPM), equation 4"},
      .covers = {"noise-without-root"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"two roots", Expect::kClean, [] { return With(1, 0); }},
                   {"a variance as the factor", Expect::kWarning, [] { return With(1); }}},
  };
}

}  // namespace dlcheck::training_loop
