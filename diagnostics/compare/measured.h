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

struct Measured {
  std::map<int64_t, std::map<Stage, StageValues>> steps;
  int64_t last_step = -1;  // with anything recorded
  bool of_python = false;  // recorded by the Python probe
};

// Of values that are equal or not, and have no size.
bool IsDigest(const std::string& quantity);

// Time and memory grow with the records.
Measured MeasuredIn(const Trace& trace);

}  // namespace dlcheck
