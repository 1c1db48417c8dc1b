// Runs that clip every step by its norm.
#pragma once

#include "checks/engine/evidence.h"

namespace dlcheck {

// `reaching` of 200 steps have a gradient of norm 1, the others of 0.01; all are clipped to 1.
Evidence ClippedSteps(int reaching);

}  // namespace dlcheck
