// Runs that clip every step by its norm.
#pragma once

#include "checks/engine/evidence.h"

namespace dlcheck {

// The first `reaching` steps have a gradient of norm `bound`, the others of a hundredth of it; all
// are clipped to `bound`.
Evidence ClippedSteps(int reaching, int steps = 200, double bound = 1);

}  // namespace dlcheck
