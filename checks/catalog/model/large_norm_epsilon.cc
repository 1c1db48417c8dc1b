#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::model {
namespace {

constexpr int64_t kOften = 3;  // times that it was looked at

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kSmallVariance>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (statement.count < kOften || 4 * statement.last_step < stated.steps - 1) continue;
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kWarning,
        StrCat("In ", static_cast<int>(100 * statement.value), " % of its groups, ", statement.name,
               " gets a variance below its epsilon of ", Short(statement.aux), "."),
        statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kSmallVariance, "module", "norm", value, aux, times);
}

}  // namespace

Check LargeNormEpsilon() {
  return {
      .id = "model/large_norm_epsilon",
      .title = "A normalization has too large an epsilon",
      .promise = "The variance that a normalization divides by is larger than its epsilon.",
      .why =
          "With a larger epsilon the layer divides by a constant: it does not normalize any "
          "more.",
      .method =
          "Compares the variance of the input of LayerNorm, GroupNorm and batch "
          "normalization with epsilon, at steps 0, 1, 2, 4, 8 and so on.",
      .fix = "Use the usual epsilon of 1e-5, or scale the input of the layer up.",
      .limits = {.needs = "A Python program, or a C++ program that is watched as it is, with an "
                          "optimizer step.",
                 .silent_when = "Half of the variances exceed epsilon, or they do so later.",
                 .severity = "Always a warning: inputs that hardly differ may be right.",
                 .blind_spots = "RMSNorm, and layers in evaluation mode.",
                 .sensitivity = ""},
      .python = {.bad = R"(self.norm = nn.LayerNorm(256, eps=10))",
                 .good = R"(self.norm = nn.LayerNorm(256, eps=1e-5))"},
      .cpp = {.bad = "nn::LayerNorm norm(nn::LayerNormOptions({256}).eps(10));",
              .good = "nn::LayerNorm norm(nn::LayerNormOptions({256}).eps(1e-5));"},
      .sources = {"PyTorch documentation of torch.nn.LayerNorm: eps is added to the variance"},
      .covers = {"wrong-norm-constants"},
      .explains = {"gradients/vanishing"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kModuleBuilt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"variances above epsilon", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"small values at the start", Expect::kClean, [] { return With(1, 1e-5, 3); }},
                   {"an epsilon of ten", Expect::kWarning, [] { return With(1, 10, 16); }}},
  };
}

}  // namespace dlcheck::model
