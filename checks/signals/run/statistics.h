// The few statistics that checks use, each with its source. Pure functions of numbers.
#pragma once

#include <vector>

namespace dlcheck {

// The middle value, the mean of the middle two for an even count. REQUIRES: not empty.
double Median(std::vector<double> values);

// How sure a trend is, in standard deviations of the number of pairs that rise less those that
// fall: above 3.29 a series without a trend comes once in 2,000. 0 for fewer than two values.
// Source: Mann 1945, Kendall 1975; without the correction for equal values, which makes it smaller.
double MannKendall(const std::vector<double>& values);

}  // namespace dlcheck
