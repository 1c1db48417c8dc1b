#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"
#include "checks/signals/run/stated.h"

namespace dlcheck::attention {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kInvertedMask>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kError,
                         StrCat("The padding mask of ", statement.name, " hides ", statement.value,
                                " different tokens and leaves only one, which is the padding."),
                         statement.name));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kInvertedMask, "module", "encoder", value, aux, times);
}

}  // namespace

Check InvertedPaddingMask() {
  return {
      .id = "attention/inverted_padding_mask",
      .title = "The padding mask hides the tokens",
      .promise = "A padding mask hides the padding and leaves the tokens.",
      .why =
          "In key_padding_mask, True means that a position is ignored. With the other sense, "
          "attention sees nothing but padding.",
      .method =
          "Compares the mask with the tokens that the model was given. Reports one that "
          "leaves a single kind of token and hides several.",
      .fix = "Negate the mask: key_padding_mask=(tokens == pad).",
      .limits = {.needs = "A program with nn.MultiheadAttention, and a model whose input "
                          "holds tokens.",
                 .silent_when = "The mask is right in the part of the batch that it leaves.",
                 .severity = "",
                 .blind_spots = "Masks of attention that is written by hand.",
                 .sensitivity = ""},
      .python = {.bad = R"(mask = tokens != pad
out = encoder(x, src_key_padding_mask=mask))",
                 .good = R"(mask = tokens == pad
out = encoder(x, src_key_padding_mask=mask))"},
      .cpp = {.bad = R"(auto mask = tokens != pad;
auto out = encoder->forward(x, {}, /*src_key_padding_mask=*/mask);)",
              .good = R"(auto mask = tokens == pad;
auto out = encoder->forward(x, {}, /*src_key_padding_mask=*/mask);)"},
      .sources = {"PyTorch documentation of torch.nn.MultiheadAttention: key_padding_mask"},
      .covers = {"inverted-attention-mask"},
      .explains = {"attention/padding_without_mask", "attention/unmasked_padding",
                   "learnability/no_better_than_constant", "numerics/nonfinite_values"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a mask that hides padding", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a mask that hides the tokens", Expect::kError, [] { return With(11, 200); }}},
  };
}

}  // namespace dlcheck::attention
