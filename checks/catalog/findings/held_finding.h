// How the checks that permute a fixed batch judge: a gradient that changes more than rounding
// explains.
#pragma once

#include "checks/engine/check.h"
#include "checks/signals/model/arrangements.h"

namespace dlcheck {

inline constexpr Setting kHeldTimes{
    .name = "times",
    .value = 8,
    .low = 1,
    .high = 1e9,
    .unit = "times the rounding error",
    .meaning = "smallest reported change of the gradient, added to `floor`",
    .source = "measured: at most 1.8 in 22 healthy programs, 5e6 with rotated targets"};
inline constexpr Setting kHeldFloor{
    .name = "floor",
    .value = 1e-5,
    .low = 0,
    .high = 1,
    .unit = "of the gradient's norm",
    .meaning = "smallest reported change of the gradient, added to `times`",
    .source = "measured: at most 7e-7 in healthy float32 programs"};

inline constexpr Setting kHeldBent{
    .name = "bent",
    .value = 0.03,
    .low = 0,
    .high = 1,
    .unit = "of the gradient's change",
    .meaning = "largest part of the change that is not a sum over independent samples",
    .source = "measured: 1e-6 with unequal counts, 1.1 in contrastive losses, 1.5 in batch norm"};

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
