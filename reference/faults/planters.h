// Who plants which fault: one table a file, put together by faults.cc.
#pragma once

#include <utility>
#include <vector>

#include "reference/training/plan.h"

namespace dlcheck::reference {

enum class FaultName : uint8_t {
#define DLCHECK_FAULT(enumerator, name, check, options, story) enumerator,
#include "reference/faults/faults.def"
#undef DLCHECK_FAULT
};

using Planters = std::vector<std::pair<FaultName, void (*)(Plan&)>>;

// Of data, model, initialization and what a loop does with them.
Planters LoopFaults();
// Of accumulation, clipping, loss scaling, precision, schedule and optimizer.
Planters MechanismFaults();
// Of averages, checkpoints, evaluation and attention.
Planters StateFaults();
// Of what ranks do together; each needs two of them.
Planters RankFaults();

}  // namespace dlcheck::reference
