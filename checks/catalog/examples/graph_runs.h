// The run that examples of checks of retained autograd graphs start from.
#pragma once

#include <functional>

#include "checks/engine/evidence.h"

namespace dlcheck {

inline constexpr int kGraphSteps = 48;

struct GraphValues {
  // Number of graphs alive at the end of a step; each step checks all graphs of earlier calls.
  std::function<double(int step)> alive = [](int) { return 0; };
  bool retains = false;       // each first backward call of a step retains the graph
  bool retains_last = false;  // and so does the second
};

// Steps of two backward calls.
Evidence WithGraphs(const GraphValues& values);

}  // namespace dlcheck
