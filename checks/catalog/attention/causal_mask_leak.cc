#include "checks/catalog/trial_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::attention {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, Sensitivities>& tried) {
  return JudgeTrials(settings, tried->future,
                     {.before = "When only later tokens change, outputs at early positions of ",
                      .nothing = "no model was seen to be trained on its own next token",
                      .severity = Severity::kError});
}

Evidence Moved(double share) { return WithTrial(Quantity::kFutureSensitivity, share, 1e-7); }

}  // namespace

Check CausalMaskLeak() {
  return {
      .id = "attention/causal_mask_leak",
      .promise = "The outputs of a causal model depend on no later input.",
      .why =
          "The model learns to copy what it is to predict: its loss is far too good, and what it "
          "generates is worthless.",
      .method =
          "Between two steps the second half of a sequence is replaced, and the outputs at the "
          "first half are compared with those from before, in evaluation mode.",
      .fix =
          "Look at the mask: is_causal, the diagonal of triu or tril, its dtype (true means see "
          "or hide), and at anything else that mixes positions, such as a norm over time.",
      .limits =
          "Needs a host that can try its model (--deep). In a Python program a model is to be "
          "causal if the targets of its cross-entropy are its own input one position ahead. A "
          "leak of fewer positions than half a sequence shows at the border of the halves alone. "
          "Measured in float32: 4e-6 of the next position, added to each, is still caught.",
      .sources = {"Vaswani et al. 2017", "own reasoning: an exact test"},
      .covers = {"T01", "T02", "T03"},
      .explains = {},
      .worst = Severity::kError,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"as much as rounding explains", Expect::kClean, [] { return Moved(1e-6); }},
                   {"ten times as much", Expect::kFaulty, [] { return Moved(1e-5); }}},
  };
}

}  // namespace dlcheck::attention
