#include "checks/catalog/trial_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::attention {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, Sensitivities>& tried) {
  const absl::StatusOr<Verdict> values =
      JudgeTrials(settings, tried->padding,
                  {.before = "When only the padding changes, outputs at the tokens of ",
                   .nothing = "no model was seen to be given a mask of its padding",
                   .severity = Severity::kWarning});
  const bool found = values.ok() && !values->findings.empty();
  if (found || tried->lengths.trials.empty()) return values;
  return JudgeTrials(
      settings, tried->lengths,
      {.before = "When a row stands alone and without its padding, the outputs for it of ",
       .nothing = "",
       .severity = Severity::kWarning});
}

Evidence Moved(double share) { return WithTrial(Quantity::kPaddingSensitivity, share, 0); }
Evidence MovedAlone(double share) { return WithTrial(Quantity::kLengthSensitivity, share, 1e-7); }

}  // namespace

Check UnmaskedPadding() {
  return {
      .id = "attention/unmasked_padding",
      .promise =
          "What stands at padded positions, and how many there are, does not matter at the others.",
      .why =
          "The outputs for a text depend on how long the others in its batch are; alone, it gets "
          "other ones.",
      .method =
          "The padding is replaced by other tokens, and the outputs at the tokens are compared "
          "with those from before, in evaluation mode on a copy of the model. Then the row of "
          "most padding is tried alone, with its padding and cut to its own length.",
      .fix =
          "Give the mask to every layer that mixes positions, and look at its sense: true hides "
          "in key_padding_mask and shows in scaled_dot_product_attention; pool over tokens alone.",
      .limits =
          "Needs --deep, and a mask among the inputs that marks exactly where one token stands "
          "that stands nowhere else, at the end of each row. Outputs without positions are "
          "compared where padding is cut off, which is tried where batches are of different "
          "lengths and padding comes last. Measured in float32: 4e-6 of a mean over the padding, "
          "too, and outputs that grow by 2e-7 with each padded position are still caught.",
      .sources = {"PyTorch: nn.MultiheadAttention, key_padding_mask", "own reasoning: exact"},
      .covers = {"T04"},
      .explains = {},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"as much as rounding explains", Expect::kClean, [] { return Moved(1e-6); }},
                   {"ten times as much", Expect::kFaulty, [] { return Moved(1e-5); }},
                   {"the same where padding is cut off", Expect::kClean,
                    [] { return MovedAlone(2e-6); }},
                   {"more where padding is cut off", Expect::kFaulty,
                    [] { return MovedAlone(1e-5); }}},
  };
}

}  // namespace dlcheck::attention
