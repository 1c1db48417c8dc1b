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
  bool zero_weights = false;  // all matrices with a gradient of zero, two or more, are zero
  bool cut_off = false;  // the first module to run has no gradient: it is detached from the loss
  int64_t judged = 0;

  // Nothing trains at all.
  bool all_zero() const {
    const size_t zero = zero_matrices.size() + zero_vectors.size();
    return zero > 0 && static_cast<int64_t>(zero) == judged;
  }
};

// Of parameters of an optimizer that made `enough` sampled steps and more. `loss` is null if it was
// not seen.
Lacking LackingGradients(const Gradients& gradients, double enough, const LossCurve* loss);

// Why gradients are zero, as far as the records tell: a sentence after a space, or nothing.
std::string ReasonOfZeros(const Lacking& lacking, const LossCurve* loss);

}  // namespace dlcheck
