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

Measured::Measured(std::vector<Key> keys, std::vector<Entry> entries, bool of_python)
    : keys_(std::move(keys)), entries_(std::move(entries)), of_python_(of_python) {
  std::ranges::stable_sort(entries_, {}, &Entry::step);
}

std::vector<int64_t> Measured::Steps() const {
  std::vector<int64_t> steps;
  for (const Entry& entry : entries_) {
    if (steps.empty() || steps.back() != entry.step) steps.push_back(entry.step);
  }
  return steps;
}

std::map<Stage, StageValues> Measured::At(int64_t step) const {
  std::map<Stage, StageValues> stages;
  for (const Entry& entry : std::ranges::equal_range(entries_, step, {}, &Entry::step)) {
    const Key& key = keys_[entry.key];
    stages[key.stage][key.names].push_back(entry.value);
  }
  return stages;
}

std::vector<Measured::Entry> Measured::Of(Stage stage) const {
  std::vector<Entry> found;
  for (const Entry& entry : entries_) {
    if (keys_[entry.key].stage == stage) found.push_back(entry);
  }
  return found;
}

Measured MeasuredIn(const Trace& trace) {
  std::vector<Measured::Key> keys;
  std::vector<Measured::Entry> entries;
  const auto key_of = [&keys](const Measured::Key& key) {
    for (size_t i = keys.size(); i-- > 0;) {  // mostly that of the sample before
      if (keys[i].stage == key.stage && keys[i].names == key.names) return static_cast<uint32_t>(i);
    }
    keys.push_back(key);
    return static_cast<uint32_t>(keys.size() - 1);
  };
  for (const auto& [quantity, stage, by_thing] : kKept) {
    for (const ThingId thing : trace.ThingsWith(quantity)) {
      Measured::Key key{
          stage, {std::string(QuantityName(quantity)), by_thing ? trace.Display(thing) : "", 0}};
      std::map<int, uint32_t> by_rank;
      for (const Sample& sample : trace.Series(quantity, thing)) {
        const auto [place, is_new] = by_rank.try_emplace(sample.rank, 0);
        key.names.rank = sample.rank;
        if (is_new) place->second = key_of(key);
        entries.push_back({sample.step, place->second, {sample.value, sample.aux}});
      }
    }
  }
  for (const Occurrence& event : trace.Events()) {
    if (event.event != Event::kClip || event.gap) continue;
    const uint32_t key = key_of({Stage::kClip, {"clip", "", event.rank}});
    entries.push_back({event.step, key, {event.value, event.aux}});
  }
  const bool of_python = !trace.ProcessAttribute("python").empty();
  return Measured(std::move(keys), std::move(entries), of_python);
}

}  // namespace dlcheck
