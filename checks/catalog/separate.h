// Processes that train models apart from each other, each on its part of the data.
#pragma once

#include <vector>

#include "checks/catalog/rank_finding.h"
#include "checks/signals/dealt_training.h"
#include "checks/signals/replicas.h"

namespace dlcheck {

// Whether all parameters were the same on all members before the first step.
bool BeganAlike(const Replicas::Group& group);

// Every parameter that took a gradient, if each parts, or was apart from the beginning, and no step
// had the same gradients; else none.
std::vector<OddParameter> Separate(const Replicas::Group& group);

// Weights may come together in ways of the program's own; and what began differently may be the
// parts of one model, if processes tell each other anything.
bool IsOneModel(const Replicas::Group& group, const Replicas& replicas);

// Each trains from the same weights on rows that no other has, and one alone evaluates or saves:
// what the others learn is thrown away.
bool IsDealtByHand(const Replicas::Group& group, const Replicas& replicas,
                   const DealtTraining& dealt);

}  // namespace dlcheck
