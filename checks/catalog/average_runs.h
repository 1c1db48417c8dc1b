// The run that examples of checks of averaged weights start from.
#pragma once

#include <string>

#include "checks/engine/evidence.h"

namespace dlcheck {

struct AverageValues {
  double moved = 0.1;      // by each update of the average
  double distance = 0.1;   // from the live weights after the first
  double growth = 0.01;    // of that distance with each
  double update = 0.01;    // norm of what each step adds to the weights
  std::string decay = {};  // as declared; empty: not at all
};

// Twelve steps, each followed by an update of the average, the first of which copies.
Evidence Averaged(const AverageValues& values);

}  // namespace dlcheck
