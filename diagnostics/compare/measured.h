// What the records of a run say of each step, in the order in which a step happens, under names
// that another run has, too.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "checks/engine/trace.h"

namespace dlcheck {

// In the order of a step. Gradients are measured as the step uses them, after clipping.
enum class Stage : uint8_t { kData, kWeights, kForward, kClip, kGradient, kRate, kUpdate };

inline constexpr Stage kStages[] = {Stage::kData,  Stage::kWeights,  Stage::kForward,
                                    Stage::kClip,  Stage::kGradient, Stage::kRate,
                                    Stage::kUpdate};

// "the data", "the weights before the step", ...
std::string_view StageName(Stage stage);

struct Measurement {
  double value = 0, aux = 0;
};

struct Quantities {
  std::string quantity;  // "gradient_norm"
  std::string thing;     // "head.weight"; empty where a number in the step tells them apart
  int rank = 0;
  auto operator<=>(const Quantities&) const = default;
};

// Of one stage of one step: by quantity and thing, in the order written.
using StageValues = std::map<Quantities, std::vector<Measurement>>;

class Measured {
 public:
  // One number in the records. Of a long run there are millions.
  struct Entry {
    int64_t step;
    uint32_t key;  // place in the keys
    Measurement value;
  };
  struct Key {
    Stage stage;
    Quantities names;
  };

  Measured() = default;
  // `entries` in the order written.
  Measured(std::vector<Key> keys, std::vector<Entry> entries, bool of_python);

  // With anything recorded, ascending.
  std::vector<int64_t> Steps() const;
  // All of a step; empty where nothing was recorded.
  std::map<Stage, StageValues> At(int64_t step) const;
  // All of one stage, by step: the keys have the names.
  std::vector<Entry> Of(Stage stage) const;
  const Key& KeyOf(const Entry& entry) const { return keys_[entry.key]; }
  bool of_python() const { return of_python_; }  // recorded by the Python probe

 private:
  std::vector<Key> keys_;
  std::vector<Entry> entries_;  // by step
  bool of_python_ = false;
};

// Of values that are equal or not, and have no size.
bool IsDigest(const std::string& quantity);

// Time and memory grow with the records: 32 bytes a number.
Measured MeasuredIn(const Trace& trace);

}  // namespace dlcheck
