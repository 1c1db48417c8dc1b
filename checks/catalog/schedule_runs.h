// The run that examples of the checks of area schedule start from: two groups, and a rate that
// rises for five steps and falls for 35.
#pragma once

#include <cstdint>
#include <functional>

#include "checks/engine/evidence.h"

namespace dlcheck {

inline constexpr int64_t kScheduledSteps = 40;

// What the schedule gives for `update`.
double ScheduledRate(int64_t update);

// `used` gives the rate of a group (0 or 1) at an update. If `leaves_out`, one step in five is left
// out, so that the next is the same update again.
Evidence RatesUsed(const std::function<double(int group, int64_t update)>& used,
                   bool leaves_out = false);

}  // namespace dlcheck
