// The deviations of the optimizers: those that are other options, and those that are another
// formula, in plain tensor operations.
#pragma once

#include "reference/optimization/optimizers.h"
#include "reference/optimization/update_rules.h"

namespace dlcheck::reference {

// The options that a deviation amounts to; the same where it is of another kind.
Optimizer::Options DeviatingOptions(Optimizer::Options options);

// Whether a deviation needs UpdateDeviating instead of Update; the rules of rules.h have their own.
bool HasDeviatingRule(OptimizerDeviation deviation, Optimizer::Rule rule);

// As Update. Cost: one copy from the device for each parameter.
void UpdateDeviating(const Optimizer::Options& options, const UpdateArguments& arguments);

}  // namespace dlcheck::reference
