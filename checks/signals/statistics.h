// The few statistics that checks use, each with its source. Pure functions of numbers.
#pragma once

#include <vector>

namespace dlcheck {

// The middle value, the mean of the middle two for an even count. REQUIRES: not empty.
double Median(std::vector<double> values);

}  // namespace dlcheck
