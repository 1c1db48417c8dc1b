// The data that a recipe names, of whatever kind.
#pragma once

#include "reference/data/data.h"
#include "reference/training/plan.h"

namespace dlcheck::reference {

// As a file of its kind is read; a token stream's mean input is zeros, (1, T). Errors:
// InputRejected, and UsageError if model and data do not fit each other.
Dataset LoadData(const Plan& plan);

}  // namespace dlcheck::reference
