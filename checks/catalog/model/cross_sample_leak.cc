#include "checks/catalog/trial_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, Sensitivities>& tried) {
  return JudgeTrials(settings, tried->neighbours,
                     {.before = "When one sample of a batch changes, outputs for the others of ",
                      .nothing = "no batch was seen to come from a loader that stacks samples",
                      .severity = Severity::kWarning});
}

Evidence Moved(double share) { return WithTrial(Quantity::kNeighbourSensitivity, share, 0); }

}  // namespace

Check CrossSampleLeak() {
  return {
      .id = "model/cross_sample_leak",
      .promise = "What a model says of a sample does not depend on the others in the batch.",
      .why =
          "The model learns from who stands beside whom: it is good in training and another one "
          "when a sample comes alone.",
      .method =
          "The last sample of a batch is replaced, and the outputs for all others are compared "
          "with those from before, in evaluation mode on a copy of the model.",
      .fix =
          "Look at what runs along the first dimension: a recurrent layer or attention without "
          "batch_first=True, a softmax, norm, mean or reshape over dim 0.",
      .limits =
          "Needs --deep, a batch that a DataLoader stacked from single samples, and an output "
          "with a row for each. Models that mean to compare samples, or route them with a common "
          "capacity, are told too. Measured in float32: 8e-6 of the batch's mean, added to each "
          "sample, is still caught.",
      .sources = {"PyTorch: nn.LSTM and nn.MultiheadAttention, batch_first",
                  "own reasoning: exact"},
      .covers = {"D21", "M12"},
      .explains = {"data/order_dependence"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"as much as rounding explains", Expect::kClean, [] { return Moved(1e-6); }},
                   {"ten times as much", Expect::kFaulty, [] { return Moved(1e-5); }}},
  };
}

}  // namespace dlcheck::model
