// The whole validation split, without gradients.
#pragma once

#include "reference/training/training.h"

namespace dlcheck::reference {

struct Scores {
  double loss = 0;      // mean over the targets, without label smoothing and class weights
  double accuracy = 0;  // fraction of the targets
};

// In evaluation mode, with the averaged weights if there are any. Draws no random number and
// changes no state.
Scores Evaluate(Training& training);

}  // namespace dlcheck::reference
