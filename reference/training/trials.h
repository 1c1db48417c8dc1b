// Exact tests of a model between two of its steps: something is changed that must not matter.
#pragma once

#include "reference/training/training.h"

namespace dlcheck::reference {

// Runs every trial that the model admits and tells the observer. Modes and random state are as
// before; no weight is written.
void RunTrials(Training& training);

}  // namespace dlcheck::reference
