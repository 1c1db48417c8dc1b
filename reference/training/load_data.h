// The data that a recipe names, of whatever kind.
#pragma once

#include <string>

#include "reference/data/data.h"
#include "reference/training/plan.h"

namespace dlcheck::reference {

// The file that the recipe names, or the one that comes with the program for its model.
std::string DataPath(const Recipe& recipe);

// As a file of its kind is read; a token stream's mean input is zeros, (1, T). Errors:
// InputRejected, and UsageError if model and data do not fit each other.
Dataset LoadData(const Plan& plan);

}  // namespace dlcheck::reference
