#include <cmath>

#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::attention {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kWeightOfPadding>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    if (!std::isfinite(statement.value)) continue;  // a row whose keys are all masked
    const std::string weight =
        statement.value == 1 ? "weight"
                             : StrCat("up to ", Short(100 * statement.value), " % of its weight");
    verdict.findings.push_back(
        StatementFinding(statement, Severity::kWarning,
                         StrCat("Attention gives ", weight, " to padding: ", statement.aux,
                                " positions of the batch hold it.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kWeightOfPadding, "operation", "attention", value, aux, times);
}

}  // namespace

Check PaddingWithoutMask() {
  return {
      .id = "attention/padding_without_mask",
      .title = "Attention gives weight to padding",
      .promise = "Attention gives no weight to padding.",
      .why =
          "Each real token takes values from the padding. The outputs for a text then depend on "
          "the length of the other texts in its batch.",
      .method =
          "Reads the autograd graphs of the first three steps of each model, and the tokens that "
          "it looked up. Padding is one token that fills the end of the rows and is nowhere else.",
      .fix =
          "Mask the keys: key_padding_mask or src_key_padding_mask=(tokens == pad), or an "
          "attn_mask that is False there. A mask along the axis of the queries hides nothing.",
      .limits = {.needs = "A program whose modules are not compiled, and tokens that "
                          "nn.Embedding looks up. A batch must have three lengths.",
                 .silent_when = "The weight is below one in a million.",
                 .severity = "Always a warning.",
                 .blind_spots = "Padding at the beginning.",
                 .sensitivity = ""},
      .python = {.bad = R"(tokens = pad_sequence(texts, batch_first=True)
out = encoder(embed(tokens)))",
                 .good = R"(tokens = pad_sequence(texts, batch_first=True)
out = encoder(embed(tokens), src_key_padding_mask=tokens == 0))"},
      .cpp = {.bad = R"(auto tokens = nn::utils::rnn::pad_sequence(texts);  // (time, batch)
auto out = encoder->forward(embed(tokens));)",
              .good = R"(auto tokens = nn::utils::rnn::pad_sequence(texts);  // (time, batch)
auto out = encoder->forward(embed(tokens), {}, tokens.t() == 0);)"},
      .sources = {"PyTorch documentation of torch.nn.MultiheadAttention: key_padding_mask"},
      .covers = {"attended-padding"},
      .explains = {"attention/unmasked_padding"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"padding without weight", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a share of the weight", Expect::kWarning, [] { return With(0.04, 31); }},
                   {"attention without a mask", Expect::kWarning, [] { return With(1, 31); }}},
  };
}

}  // namespace dlcheck::attention
