// `dlcheck-train --lr-range`: between which learning rates a recipe learns. Source: Smith 2017.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/recipe/recipe.h"

namespace dlcheck::reference {

// Of one run whose rate rises by the same factor at each step. The losses are smoothed.
struct RateRange {
  double learns_from;    // the rate at which a tenth of the whole fall was reached
  double lowest_at;      // the rate at which the loss was lowest
  double diverges_from;  // the rate at which a tenth of the fall was lost again; infinite if none
};

// `losses` by step, the first at rate `first`, the last at rate `last`. Nothing is learned where
// the loss never falls: then all three are NaN.
RateRange RangeOf(const std::vector<double>& losses, double first, double last);

// Runs three seeds of `recipe` for its steps, each from 1e-6 to 10, and prints a line for each, and
// the band in which all of them learn. The exit status: 0, or 1 if there is no such band.
//
// Errors: those of a run of the recipe; UsageError for fewer than 50 steps.
int RunLrRange(Recipe recipe);

}  // namespace dlcheck::reference
