// The run that examples of data/overlap start from.
#pragma once

#include <vector>

#include "checks/engine/evidence.h"

namespace dlcheck {

// An epoch of eight batches, then eight more after each of evaluations of 256 different rows, of
// which so many were trained on.
Evidence Overlapping(const std::vector<double>& trained);

}  // namespace dlcheck
