#include "checks/catalog/findings/trial_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::attention {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, Sensitivities>& tried) {
  const absl::StatusOr<Verdict> values =
      JudgeTrials(settings, tried->padding,
                  {.before = "With only the padding replaced, outputs at the real tokens of ",
                   .nothing = "no model received a mask of its padding",
                   .severity = Severity::kWarning});
  const bool found = values.ok() && !values->findings.empty();
  if (found || tried->lengths.trials.empty()) return values;
  return JudgeTrials(
      settings, tried->lengths,
      {.before = "With a row alone and its padding removed, the outputs for this row of ",
       .nothing = "",
       .severity = Severity::kWarning});
}

Evidence Moved(double share) { return WithTrial(Quantity::kPaddingSensitivity, share, 0); }
Evidence MovedAlone(double share) { return WithTrial(Quantity::kLengthSensitivity, share, 1e-7); }

}  // namespace

Check UnmaskedPadding() {
  return {
      .id = "attention/unmasked_padding",
      .title = "Padding changes the outputs of real tokens",
      .promise = "Padded positions, and their number, do not affect other positions.",
      .why =
          "The outputs for a text depend on the length of the other texts in its batch. Alone, the "
          "same text gets different outputs.",
      .method =
          "Replaces the padding with other tokens and compares the outputs at the real tokens "
          "before and after. Also runs the row with the most padding alone, with its padding and "
          "without. Uses a copy of the model in evaluation mode. Names the module in "
          "which the change begins.",
      .fix =
          "Pass the mask to every layer that mixes positions, and pool over real tokens only. True "
          "hides a position in key_padding_mask but shows it in scaled_dot_product_attention.",
      .limits = {.needs = "--deep, and a mask among the inputs. The mask must mark exactly one "
                          "token, which occurs nowhere else, at the end of each row.",
                 .silent_when = "",
                 .severity = "Always a warning.",
                 .blind_spots =
                     "Outputs without positions are compared only with the padding removed. This "
                     "test needs batches of different lengths with padding at the end.",
                 .sensitivity =
                     "Measured in float32: finds 4e-6 of a mean that includes the padding. Also "
                     "finds outputs that grow by 2e-7 per padded position."},
      .python = {.bad = R"(tokens, pad_mask = batch  # True at padding
h = encoder(embed(tokens))
pooled = h.mean(1))",
                 .good = R"(tokens, pad_mask = batch  # True at padding
h = encoder(embed(tokens), src_key_padding_mask=pad_mask)
keep = ~pad_mask[..., None]
pooled = (h * keep).sum(1) / keep.sum(1))"},
      .cpp = {},
      .sources = {"PyTorch: nn.MultiheadAttention, key_padding_mask", "own reasoning: exact"},
      .covers = {"attended-padding"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"a change that rounding explains", Expect::kClean, [] { return Moved(1e-6); }},
                   {"a change ten times as large", Expect::kWarning, [] { return Moved(1e-5); }},
                   {"a change that rounding explains, with the padding removed", Expect::kClean,
                    [] { return MovedAlone(2e-6); }},
                   {"a larger change, with the padding removed", Expect::kWarning,
                    [] { return MovedAlone(1e-5); }}},
  };
}

}  // namespace dlcheck::attention
