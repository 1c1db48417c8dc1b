// What follows the gradients of a window: unscale, clip, step, and what goes with a step.
#pragma once

#include "reference/training/training.h"

namespace dlcheck::reference {

// Ranks keep statistics of their own batches; what is evaluated, averaged and saved is the first
// one's model. All ranks call.
void TakeBuffersOfFirst(Training& training);

// Clips the gradients as the recipe says, and notes their norm where the clipping works it out.
void Clip(Training& training);

// Unscales, clips, sets the rates, steps unless a gradient is not finite and the recipe leaves such
// a step out, and updates the average. Schedule, average and bias correction stand still at a step
// that is left out. Counts the step.
void TakeStep(Training& training);

}  // namespace dlcheck::reference
