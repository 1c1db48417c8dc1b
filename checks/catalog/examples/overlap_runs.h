// The run that examples of data/train_eval_overlap start from.
#pragma once

#include <vector>

#include "checks/engine/evidence.h"

namespace dlcheck {

// An epoch of eight batches, then eight more after each of evaluations of 256 different rows, of
// which so many were trained on. What training data there are above 256 an epoch drops.
Evidence Overlapping(const std::vector<double>& trained, int samples = 256);

}  // namespace dlcheck
