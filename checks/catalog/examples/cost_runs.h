// The run that examples of the performance checks start from.
#pragma once

#include <functional>

#include "checks/engine/evidence.h"

namespace dlcheck {

struct CostValues {
  int steps = 96;
  int passes = 8;                                              // over its data
  std::function<double(int)> time = [](int) { return 0.02; };  // s, by step
  std::function<double(int)> wait = [](int) { return 0.001; };
  std::function<double(int)> reads = nullptr;  // of an accelerator, if there is one
  std::function<double(int)> resident = [](int) { return 4e8; };  // bytes
};

Evidence WithCosts(const CostValues& values);

}  // namespace dlcheck
