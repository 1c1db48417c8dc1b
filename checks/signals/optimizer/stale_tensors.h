// Tensors that an optimizer steps on although another model of the same shapes gets the gradients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/signals/gradients/gradients.h"

namespace dlcheck {

struct StaleTensors {
  std::vector<std::string> held, used;  // in an optimizer, and what it should hold instead
  bool all_matched = true;              // each unused tensor has a counterpart in use
  int64_t last_step = -1;               // in which one of those held had a gradient
};

// Those that never got a gradient, of no model that ran. `enough`: sampled steps of the optimizer.
StaleTensors NeverUsed(const Gradients& gradients, double enough);

// Those of a model that got gradients until some step and none in the last `enough` sampled steps
// of its optimizer. Each has a counterpart; empty if one has none.
StaleTensors UsedNoMore(const Gradients& gradients, double enough);

}  // namespace dlcheck
