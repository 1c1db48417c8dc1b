#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::training_loop {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kOwnPairs>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("The largest score in each of ", statement.value, " rows of ", statement.name,
               " is that of the sample with itself, which is never the target."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kOwnPairs, "loss", "cross_entropy", value, aux, times);
}

}  // namespace

Check OwnPairAsNegative() {
  return {
      .id = "training_loop/own_pair_as_negative",
      .title = "A sample counts as a negative of itself",
      .promise = "A contrastive loss compares a sample with others only.",
      .why =
          "No pair can be as similar as a sample and itself. The loss has a high floor, and "
          "its gradient mostly fights that pair.",
      .method =
          "Looks at square scores of cross_entropy whose targets are never on the diagonal. "
          "Reports a diagonal that is constant and the largest score of each row.",
      .fix =
          "Mask the diagonal before the loss: similarity.fill_diagonal_(-torch.inf), or "
          "masked_fill.",
      .limits = {.needs = "A program whose contrastive loss is cross_entropy, on the CPU or CUDA.",
                 .silent_when = "A target lies on the diagonal, as in losses between two views.",
                 .severity = "Always a warning.",
                 .blind_spots = "Losses that are written with logsumexp.",
                 .sensitivity = ""},
      .python = {.bad = R"(z = F.normalize(torch.cat([a, b]), dim=1)
loss = F.cross_entropy(z @ z.t() / 0.5, partner))",
                 .good = R"(z = F.normalize(torch.cat([a, b]), dim=1)
similarity = (z @ z.t() / 0.5).fill_diagonal_(-torch.inf)
loss = F.cross_entropy(similarity, partner))"},
      .cpp = {.bad = R"(auto z = F::normalize(torch::cat({a, b}), F::NormalizeFuncOptions().dim(1));
auto loss = F::cross_entropy(z.matmul(z.t()) / 0.5, partner);)",
              .good =
                  R"(auto z = F::normalize(torch::cat({a, b}), F::NormalizeFuncOptions().dim(1));
auto similarity = (z.matmul(z.t()) / 0.5).fill_diagonal_(-INFINITY);
auto loss = F::cross_entropy(similarity, partner);)"},
      .sources = {"Chen et al. 2020 (SimCLR), equation 1: the sum leaves out the sample itself"},
      .covers = {"sample-as-its-own-negative"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kLossComputed,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"no such scores", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"the diagonal is the largest", Expect::kWarning, [] { return With(128, 0); }}},
  };
}

}  // namespace dlcheck::training_loop
