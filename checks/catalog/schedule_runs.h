// The run that examples of the checks of area schedule start from: two groups, and a rate that
// rises for five steps and falls for 35.
#pragma once

#include <cstdint>
#include <functional>

#include "checks/engine/evidence.h"

namespace dlcheck {

inline constexpr int64_t kScheduledSteps = 40;

// What the schedule gives at `step`.
double ScheduledRate(int64_t step);

// `used` gives the rate of a group (0 or 1) at a step.
Evidence RatesUsed(const std::function<double(int group, int64_t step)>& used);

}  // namespace dlcheck
