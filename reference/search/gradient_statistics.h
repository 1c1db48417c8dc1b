// `dlcheck-train --gradient-statistics`: how noisy the gradients of a recipe are, and how large.
//
// The noise scale is the batch size at which the noise of a gradient is as large as the gradient.
// Far below it twice the batch takes nearly half the steps; far above it, as many. Source:
// McCandlish et al. 2018, appendix A.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/recipe/recipe.h"

namespace dlcheck::reference {

// Sums over steps of what the squared norms of a small and of a large batch's gradient tell: single
// steps tell next to nothing.
class NoiseEstimate {
 public:
  // The squared norms of the mean gradient of `small` samples, and of all `large` samples of which
  // these are some. REQUIRES: 0 < small < large.
  void Add(double small_square, double large_square, double small, double large);

  double signal() const { return signal_ / steps_; }  // the squared norm of the true gradient
  double noise() const { return noise_ / steps_; }    // the sum of the variances of one sample's
  // In samples; not a number where the signal was lost in the noise.
  double scale() const;

 private:
  double signal_ = 0, noise_ = 0, steps_ = 0;
};

struct GradientStatistics {
  NoiseEstimate noise;
  std::vector<double> norms;  // of the gradients of the steps, ascending
};

// Of one run of `recipe`: eight micro-batches a step, unless it asks for more. Errors: those of a
// run; UsageError for a recipe that clips, scales its loss or has several ranks.
GradientStatistics StatisticsOf(Recipe recipe);

// Three seeds; prints the noise scale of each, the percentiles of the norms and a bound to clip at.
// Returns 0, or 1 where no seed has a noise scale.
int RunGradientStatistics(Recipe recipe);

}  // namespace dlcheck::reference
