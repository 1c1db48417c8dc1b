// How the checks on arrangements judge: a gradient that moved further than rounding explains.
#pragma once

#include "checks/engine/check.h"
#include "checks/signals/arrangements.h"

namespace dlcheck {

inline constexpr Setting kHeldTimes{
    .name = "times",
    .value = 8,
    .low = 1,
    .high = 1e9,
    .unit = "times what rounding explains",
    .meaning = "motion of the gradient that counts, added to `floor`",
    .source = "measured: at most 1.8 in 22 healthy programs, 5e6 where targets are rotated"};
inline constexpr Setting kHeldFloor{
    .name = "floor",
    .value = 1e-5,
    .low = 0,
    .high = 1,
    .unit = "of the gradient's norm",
    .meaning = "motion of the gradient that counts, added to `times`",
    .source = "measured: at most 7e-7 in healthy programs of float32"};

inline constexpr Setting kHeldBent{
    .name = "bent",
    .value = 0.03,
    .low = 0,
    .high = 1,
    .unit = "of the gradient's motion",
    .meaning = "what is no sum over samples, up to which they do not act on each other",
    .source = "measured: 1e-6 where counts differ, 1.1 in contrastive losses, 1.5 in batch norm"};

inline double HeldBound(const Settings& settings, double rounding) {
  return settings[kHeldTimes] * rounding + settings[kHeldFloor];
}

// Whether samples of one micro-batch act on each other, as in batch norm.
inline bool ActOnEachOther(const Settings& settings, const Arrangements::Split& split) {
  if (!split.mixed || split.mixed->share <= HeldBound(settings, split.mixed->rounding))
    return false;
  return split.bent > settings[kHeldBent] * split.mixed->share;
}

}  // namespace dlcheck
