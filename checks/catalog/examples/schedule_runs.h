// The run that examples of the schedule checks start from: two parameter groups, and a learning
// rate that rises for five steps and falls for 35.
#pragma once

#include <cstdint>
#include <functional>

#include "checks/engine/evidence.h"

namespace dlcheck {

inline constexpr int64_t kScheduledSteps = 40;

// The schedule's learning rate for `update`.
double ScheduledRate(int64_t update);

// `used` gives the learning rate of a group (0 or 1) at an update. If `leaves_out`, one step in
// five is skipped, so the next step repeats the same update.
Evidence RatesUsed(const std::function<double(int group, int64_t update)>& used,
                   bool leaves_out = false);

}  // namespace dlcheck
