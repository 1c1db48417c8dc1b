// What follows the gradients of a window: unscale, clip, step, and what goes with a step.
#pragma once

#include "reference/training/training.h"

namespace dlcheck::reference {

// Runs the phases of the step, and counts it. Schedule, average and bias correction stand still at
// a step that is left out.
void TakeStep(Training& training);

}  // namespace dlcheck::reference
