// Ranks that train separate models, each on its shard of the data.
#pragma once

#include <vector>

#include "checks/catalog/findings/rank_finding.h"
#include "checks/signals/distributed/dealt_training.h"
#include "checks/signals/distributed/replicas.h"

namespace dlcheck {

// Whether all parameters were equal on all ranks before the first step.
bool BeganAlike(const Replicas::Group& group);

// Every parameter that took a gradient, if each diverges or differs from the start, and no step had
// equal gradients; else none.
std::vector<OddParameter> Separate(const Replicas::Group& group);

// The program may synchronize weights itself. Parameters that differ from the start may be parts of
// one model, if ranks communicate at all.
bool IsOneModel(const Replicas::Group& group, const Replicas& replicas);

// Each rank trains from the same weights on rows that no other rank has, and only one evaluates or
// saves: the training of the others is lost.
bool IsDealtByHand(const Replicas::Group& group, const Replicas& replicas,
                   const DealtTraining& dealt);

}  // namespace dlcheck
