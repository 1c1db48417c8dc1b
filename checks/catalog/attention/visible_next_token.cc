#include "checks/catalog/findings/statement_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::attention {
namespace {

absl::StatusOr<Verdict> Judge(const Settings&, const Stated<Quantity::kWeightOfNextToken>& stated) {
  Verdict verdict = NothingStated(stated);
  for (const Statement& statement : stated.all) {
    const std::string weight =
        statement.value == 1 ? "weight"
                             : StrCat("up to ", Short(100 * statement.value), " % of its weight");
    verdict.findings.push_back(StatementFinding(
        statement, Severity::kError,
        StrCat("Attention gives ", weight, " from a position to the next one, whose token is its ",
               "target: ", statement.aux, " targets of the batch can be copied.")));
  }
  return verdict;
}

Evidence With(double value, double aux, int times = 1) {
  return Stating(Quantity::kWeightOfNextToken, "operation", "attention", value, aux, times);
}

}  // namespace

Check VisibleNextToken() {
  return {
      .id = "attention/visible_next_token",
      .title = "A model sees the token that it has to predict",
      .promise = "Attention hides the next token from the position that predicts it.",
      .why =
          "The model learns to copy the next token. Its loss is far too good, and the text that "
          "it generates is useless.",
      .method =
          "Reads the autograd graphs of the first three steps of each model. Looks at the weight "
          "that attention gives to the next position, where the target is the token there.",
      .fix = "Pass is_causal=True, or a mask that hides all later positions.",
      .limits = {.needs = "A program whose modules are not compiled. The targets of its "
                          "cross-entropy are its own tokens, one position ahead.",
                 .silent_when = "One of the attention layers of the right size hides the token.",
                 .severity = "Always an error.",
                 .blind_spots = "Layers that mix positions without attention.",
                 .sensitivity = "Finds a weight of one in a million."},
      .python = {.bad = R"(y = F.scaled_dot_product_attention(q, k, v)
loss = F.cross_entropy(head(y[:, :-1]).mT, tokens[:, 1:]))",
                 .good = R"(y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
loss = F.cross_entropy(head(y[:, :-1]).mT, tokens[:, 1:]))"},
      .cpp =
          {.bad = R"(auto out = head(torch::scaled_dot_product_attention(q, k, v));
auto logits = out.slice(1, 0, -1).transpose(1, 2);
auto loss = F::cross_entropy(logits, tokens.slice(1, 1));)",
           .good =
               R"(auto out = head(torch::scaled_dot_product_attention(q, k, v, {}, 0, /*is_causal=*/true));
auto logits = out.slice(1, 0, -1).transpose(1, 2);
auto loss = F::cross_entropy(logits, tokens.slice(1, 1));)"},
      .sources = {"Vaswani et al. 2017", "own reasoning: exact"},
      .covers = {"causal-mask-leak", "inverted-attention-mask"},
      .explains = {"attention/causal_mask_leak"},
      .worst = Severity::kError,
      .live = false,
      .stands_at = std::nullopt,
      .settings = {},
      .judgement = Reads<&Judge>(),
      .examples = {{"a causal mask", Expect::kClean, [] { return With(0, 0, 0); }},
                   {"a share of the weight", Expect::kError, [] { return With(0.2, 160); }},
                   {"attention without a mask", Expect::kError, [] { return With(1, 160); }}},
  };
}

}  // namespace dlcheck::attention
