// The run that examples of checks on kept graphs start from.
#pragma once

#include <functional>

#include "checks/engine/evidence.h"

namespace dlcheck {

inline constexpr int kGraphSteps = 48;

struct GraphValues {
  // How many graphs live as a step ends; each looks at as many as there were calls before.
  std::function<double(int step)> alive = [](int) { return 0; };
  bool retains = false;       // each first backward call of a step asks to keep the graph
  bool retains_last = false;  // and so does the second
};

// Steps of two backward calls.
Evidence WithGraphs(const GraphValues& values);

}  // namespace dlcheck
