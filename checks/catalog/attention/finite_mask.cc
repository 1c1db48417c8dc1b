#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::attention {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kWeightBehindMask>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat("A masked position gets ", Short(statement.value),
                                " of the attention; ", statement.aux, " positions are masked.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kWeightBehindMask, "operation", "masked_fill", value, aux, times);
}

}  // namespace

Check FiniteMask() {
  return {
      .id = "attention/finite_mask",
      .title = "Masked positions still get attention weight",
      .promise = "Attention gives no weight at all to a masked position.",
      .why =
          "A value such as -10 in the place of minus infinity leaves a share of the attention "
          "on positions that should be hidden.",
      .method =
          "Reads the autograd graphs of the first three steps of each model. Looks at the weights "
          "that a "
          "softmax gives where masked_fill() filled in a value.",
      .fix =
          "Fill in float(\"-inf\"), or torch.finfo(scores.dtype).min where a whole row may be "
          "masked.",
      .limits = {.needs =
                     "A Python program whose modules are not compiled, or a C++ program that is "
                     "watched as it is, on the CPU.",
                 .silent_when = "The weight is below one in a million.",
                 .severity = "Always a warning: a soft mask may be meant.",
                 .blind_spots = "Masks that are added to the scores, and the masks of "
                                "scaled_dot_product_attention.",
                 .sensitivity = ""},
      .python = {.bad = R"(scores = scores.masked_fill(hidden, -10)
weights = scores.softmax(-1))",
                 .good = R"(scores = scores.masked_fill(hidden, float("-inf"))
weights = scores.softmax(-1))"},
      .cpp =
          {.bad = "auto weights = torch::softmax(scores.masked_fill(is_hidden, -10), -1);",
           .good =
               R"(auto weights = torch::softmax(scores.masked_fill(is_hidden, -INFINITY), -1);)"},
      .sources = {"own reasoning: exp(-10) is 4.5e-5, and exp(-inf) is 0"},
      .covers = {"finite-mask-constant"},
      .explains = {"attention/causal_mask_leak", "attention/padding_without_mask",
                   "attention/unmasked_padding", "attention/visible_next_token"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"masked positions without weight", Expect::kClean,
                    [] { return With(0, 0, 0); }},
                   {"a weight behind the mask", Expect::kWarning, [] { return With(0.01, 120); }}},
  };
}

}  // namespace dlcheck::attention
