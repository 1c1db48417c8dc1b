#include "checks/catalog/findings/trial_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::attention {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, Sensitivities>& tried) {
  return JudgeTrials(settings, tried->future,
                     {.before = "With only later tokens replaced, outputs at early positions of ",
                      .nothing = "no model was trained on the next token of its own input",
                      .severity = Severity::kError});
}

Evidence Moved(double share) { return WithTrial(Quantity::kFutureSensitivity, share, 1e-7); }

}  // namespace

Check CausalMaskLeak() {
  return {
      .id = "attention/causal_mask_leak",
      .title = "A causal model sees later tokens",
      .promise = "The outputs of a causal model do not depend on later inputs.",
      .why =
          "The model learns to copy the tokens that it has to predict. Its loss is far too good, "
          "and the text that it generates is useless.",
      .method =
          "Replaces the second half of a sequence between two steps. Compares the outputs at the "
          "first half before and after. Runs the model in evaluation mode. Names the module in "
          "which the change begins.",
      .fix =
          "Check the mask: is_causal, the diagonal of triu or tril, and its dtype (whether True "
          "shows or hides). Check anything else that mixes positions, such as a norm over time.",
      .limits =
          {.needs = "--deep. A model counts as causal if the targets of its cross-entropy are "
                    "its own input, one position ahead. A program with the two lines of the C++ "
                    "probe must run this test on its model.",
           .silent_when = "",
           .severity = "Always an error.",
           .blind_spots = "A leak over fewer positions than half a sequence shows only at the "
                          "border of the halves.",
           .sensitivity =
               "Measured in float32: finds 4e-6 of the next position added to each position."},
      .python = {.bad = R"(mask = torch.ones(length, length, dtype=torch.bool)
y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
return self.out(y))",
                 .good = R"(mask = torch.ones(length, length, dtype=torch.bool).tril()
y = F.scaled_dot_product_attention(q, k, v, attn_mask=mask)
return self.out(y))"},
      .cpp = {.bad = R"(auto mask = torch::ones({length, length}, torch::kBool);
auto out = torch::scaled_dot_product_attention(q, k, v, mask);)",
              .good = R"(auto mask = torch::ones({length, length}, torch::kBool).tril();
auto out = torch::scaled_dot_product_attention(q, k, v, mask);)"},
      .sources = {"Vaswani et al. 2017", "own reasoning: an exact test"},
      .covers = {"causal-mask-leak", "inverted-attention-mask", "finite-mask-constant"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"a change that rounding explains", Expect::kClean, [] { return Moved(1e-6); }},
                   {"a change ten times as large", Expect::kError, [] { return Moved(1e-5); }}},
  };
}

}  // namespace dlcheck::attention
