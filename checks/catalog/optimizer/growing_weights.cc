#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::optimizer {
namespace {

constexpr double kGrowth = 100, kStill = 4;

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kWeightGrowth>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.value < kGrowth || statement.aux < kStill) continue;
    if (4 * statement.last_step < stated.steps - 1) continue;
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat(statement.name, " is ", Short(statement.value),
                                " times as large as at the start, and ", Short(statement.aux),
                                " times as large as at half of these steps."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kWeightGrowth, "parameter", "head.weight", value, aux, times);
}

}  // namespace

Check GrowingWeights() {
  return {
      .id = "optimizer/growing_weights",
      .title = "A weight keeps growing",
      .promise = "The weights stay within a small multiple of their initial size.",
      .why =
          "Weights that grow without end overflow, or make layers behind a normalization learn "
          "ever more slowly.",
      .method =
          "Compares the size of each weight with its initial size, at steps 0, 1, 2, 4, 8 "
          "and so on.",
      .fix =
          "Look for the sign of the weight decay, a learning rate that is too high, or a term "
          "without a bound in the loss.",
      .limits = {.needs = "A program with an optimizer step.",
                 .silent_when = "The weight grows by less than a factor of 100, or less than "
                                "fourfold while the steps double.",
                 .severity = "Always a warning.",
                 .blind_spots = "Weights that begin with zero, vectors, and weights on an "
                                "accelerator.",
                 .sensitivity = ""},
      .python = {.bad = R"(with torch.no_grad():
    for p in model.parameters():
        p *= 1 + 1e-2)",
                 .good = R"(with torch.no_grad():
    for p in model.parameters():
        p *= 1 - 1e-2)"},
      .cpp = {.bad = R"(torch::NoGradGuard no_grad;
for (auto& p : model->parameters()) p.mul_(1 + 1e-2);)",
              .good = R"(torch::NoGradGuard no_grad;
for (auto& p : model->parameters()) p.mul_(1 - 1e-2);)"},
      .sources = {"measured: weights of 91 healthy programs"},
      .covers = {"growing-weights"},
      .explains = {"numerics/nonfinite_values", "gradients/exploding"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kStep,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"weights that stay", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"growth that ends", Expect::kClean, [] { return With(500, 2.5, 16); }},
                   {"growth without end", Expect::kWarning, [] { return With(400, 8, 16); }}},
  };
}

}  // namespace dlcheck::optimizer
