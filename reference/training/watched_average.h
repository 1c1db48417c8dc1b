// An update of the averaged weights, and how far it took them.
#pragma once

#include "reference/optimization/averaging.h"
#include "reference/training/observer.h"

namespace dlcheck::reference {

// Updates `average`, which is of `module`, and tells `observer`, if it wants to know at this step.
// `observer` may be null. Cost when it wants to: three copies of the parameters in float64.
void UpdateWatched(Average& average, const torch::nn::Module& module, const Observer* observer);

}  // namespace dlcheck::reference
