// Which optimized parameters have no gradient, or one of exactly zero, in all sampled steps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/signals/gradients/gradients.h"
#include "checks/signals/loss/loss_curve.h"

namespace dlcheck {

// The parameters that should have a gradient, by what they lack.
struct Lacking {
  std::vector<std::string> absent, unused, strangers, zero_matrices, zero_vectors;
  bool cut_off = false;  // the first module to run has no gradient: it is detached from the loss
  int64_t judged = 0;
};

// Of parameters of an optimizer that made `enough` sampled steps and more. `loss` is null if it was
// not seen.
Lacking LackingGradients(const Gradients& gradients, double enough, const LossCurve* loss);

}  // namespace dlcheck
