// Inputs and numbers to be learned at a mean of 0 and a deviation of 1.
#pragma once

#include "reference/baseline/capture.h"

namespace dlcheck::reference {

// By feature where samples are rows of numbers, else by one mean and one deviation, over the whole
// capture. What never changes stays 0. The losses of numbers are divided by the variance of the
// targets, so that they are of what the targets have become.
void Standardize(Capture& capture);

}  // namespace dlcheck::reference
