// Findings about loss functions that are negated wherever training uses them.
#pragma once

#include <vector>

#include "checks/engine/check.h"
#include "checks/signals/loss/loss_functions.h"

namespace dlcheck {

// Alone, beside other terms, or in one of several models. Notes: the program may raise one on
// purpose. `fewest` sampled steps must use the function.
std::vector<Finding> NegatedFunctions(const LossFunctions& losses, double fewest);

}  // namespace dlcheck
