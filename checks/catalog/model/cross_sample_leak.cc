#include "checks/catalog/findings/trial_finding.h"
#include "checks/engine/reads.h"

namespace dlcheck::model {
namespace {

absl::StatusOr<Verdict> Judge(const Settings& settings,
                              const During<kTrials, Sensitivities>& tried) {
  return JudgeTrials(
      settings, tried->neighbors,
      {.before = "With one sample of a batch replaced, outputs for the other samples of ",
       .nothing = "no batch came from a loader that stacks samples",
       .severity = Severity::kWarning});
}

Evidence Moved(double share) { return WithTrial(Quantity::kNeighborSensitivity, share, 0); }

}  // namespace

Check CrossSampleLeak() {
  return {
      .id = "model/cross_sample_leak",
      .title = "Samples of a batch influence each other",
      .promise = "The output for a sample does not depend on other samples of the batch.",
      .why =
          "The model learns from the composition of batches. The model is good in training, but "
          "behaves differently for a single sample.",
      .method =
          "Replaces the first sample of a batch and compares the outputs for all other samples "
          "before and after. Uses a copy of the model in evaluation mode. Names the module in "
          "which the change begins.",
      .fix =
          "Look at operations along the first dimension. Typical causes: a recurrent layer or "
          "attention without batch_first=True; a softmax, norm, mean or reshape over dim 0.",
      .limits = {.needs = "--deep, and an output with one row per sample. In Python, a DataLoader "
                          "must stack the batch from single samples. In C++, a sampler of LibTorch "
                          "or torch::randperm must choose the rows.",
                 .silent_when = "",
                 .severity = "Always a warning, also for models that compare samples, or route "
                             "samples with a common capacity, on purpose.",
                 .blind_spots = "",
                 .sensitivity =
                     "Measured in float32: finds 8e-6 of the batch mean added to each sample."},
      .python = {.bad = R"(class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(64, 64)  # expects (time, batch, features)

    def forward(self, x):  # (batch, time, features)
        return self.lstm(x)[0])",
                 .good = R"(class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(64, 64, batch_first=True)

    def forward(self, x):  # (batch, time, features)
        return self.lstm(x)[0])"},
      .cpp = {.bad = R"(nn::LSTM lstm(64, 64);  // expects (time, batch, features)
auto out = std::get<0>(lstm(x));  // x: (batch, time, features))",
              .good = R"(nn::LSTM lstm(nn::LSTMOptions(64, 64).batch_first(true));
auto out = std::get<0>(lstm(x));  // x: (batch, time, features))"},
      .sources = {"PyTorch: nn.LSTM and nn.MultiheadAttention, batch_first",
                  "own reasoning: exact"},
      .covers = {"reshape-instead-of-transpose", "normalization-over-batch-axis"},
      .explains = {"data/order_dependence"},
      .worst = Severity::kWarning,
      .live = false,
      .stands_at = Event::kUsed,
      .settings = {kTimes, kFloor},
      .judgement = Reads<&Judge>(),
      .examples = {{"a change that rounding explains", Expect::kClean, [] { return Moved(1e-6); }},
                   {"a change ten times as large", Expect::kWarning, [] { return Moved(1e-5); }}},
  };
}

}  // namespace dlcheck::model
