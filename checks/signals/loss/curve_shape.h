// Statistics of a loss curve that is noisy: levels, trends and swings. Pure functions of its
// points.
#pragma once

#include <vector>

#include "checks/signals/loss/loss_curve.h"

namespace dlcheck {

// The exponential mean of the losses up to each point, with weights that fall to 1/e within about
// kSpan / 2 points, corrected for its start.
inline constexpr double kSpan = 50;
std::vector<double> ExponentialMeans(const LossCurve& curve);

// The standard deviation of an exponential mean of points 0 to `count` - 1, if the losses scatter
// around it independently: 1.4826 times the median absolute deviation over the root of kSpan.
double ScatterOfMeans(const LossCurve& curve, const std::vector<double>& means, size_t count);

// Medians of `blocks` blocks with equally many points each; the last points that fill no block are
// left out. REQUIRES: at least one point a block.
std::vector<double> BlockMedians(const LossCurve& curve, size_t blocks);

}  // namespace dlcheck
