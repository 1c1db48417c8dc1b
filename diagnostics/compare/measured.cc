#include "diagnostics/compare/measured.h"

#include <algorithm>

namespace dlcheck {
namespace {

struct Kept {
  Quantity quantity;
  Stage stage;
  bool by_thing;  // false: losses and batches have other names in other programs
};

constexpr Kept kKept[] = {
    {Quantity::kBatchDigest, Stage::kData, false},
    {Quantity::kBatchFingerprint, Stage::kData, false},
    {Quantity::kInputNorm, Stage::kData, false},
    {Quantity::kWeightsDigest, Stage::kWeights, true},
    {Quantity::kLoss, Stage::kForward, false},
    {Quantity::kGradientNorm, Stage::kGradient, true},
    {Quantity::kLearningRate, Stage::kRate, true},
    {Quantity::kUpdateNorm, Stage::kUpdate, true},
    {Quantity::kWeightNorm, Stage::kUpdate, true},
};

}  // namespace

std::string_view StageName(Stage stage) {
  switch (stage) {
    case Stage::kData:
      return "the input batch";
    case Stage::kWeights:
      return "the weights before the step";
    case Stage::kForward:
      return "the loss";
    case Stage::kGradient:
      return "the gradients";
    case Stage::kClip:
      return "the clipping bound";
    case Stage::kRate:
      return "the learning rate";
    case Stage::kUpdate:
      return "the update of the weights";
  }
  return "";
}

bool IsDigest(const std::string& quantity) {
  return quantity.ends_with("_digest") || quantity.ends_with("_fingerprint");
}

Measured MeasuredIn(const Trace& trace) {
  Measured measured{.steps = {}, .of_python = !trace.ProcessAttribute("python").empty()};
  for (const auto& [quantity, stage, by_thing] : kKept) {
    for (const ThingId thing : trace.ThingsWith(quantity)) {
      const std::string name = by_thing ? trace.Display(thing) : "";
      for (const Sample& sample : trace.Series(quantity, thing)) {
        measured.steps[sample.step][stage][{std::string(QuantityName(quantity)), name, sample.rank}]
            .push_back({sample.value, sample.aux});
      }
    }
  }
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kClip || event.gap) continue;
    measured.steps[event.step][Stage::kClip][{"clip", "", event.rank}].push_back(
        {event.value, event.aux});
  }
  if (!measured.steps.empty()) measured.last_step = measured.steps.rbegin()->first;
  return measured;
}

}  // namespace dlcheck
