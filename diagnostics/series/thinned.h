// Samples of one series, and the buckets that are kept of them.
#pragma once

#include <vector>

#include "diagnostics/series/series.h"

namespace dlcheck {

struct StepValue {
  int64_t step = 0;
  double value = 0;
};

// Fills everything of `series` that follows from its samples, in their order.
// `most_points`: two for each bucket.
void Thin(const std::vector<StepValue>& samples, size_t most_points, Series& series);

}  // namespace dlcheck
