// The run that examples of checks of EMA weights start from.
#pragma once

#include <string>

#include "checks/engine/evidence.h"

namespace dlcheck {

struct AverageValues {
  double moved = 0.1;      // norm of each change of the EMA weights
  double distance = 0.1;   // from the live weights after the first
  double growth = 0.01;    // of that distance with each update
  double update = 0.01;    // norm of what each step adds to the weights
  std::string decay = {};  // as declared; empty: undeclared
};

// Twelve steps, each followed by an EMA update; the first update copies.
Evidence Averaged(const AverageValues& values);

}  // namespace dlcheck
