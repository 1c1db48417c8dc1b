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
// Of losses and targets, and of what is kept from step to step.
Planters LossFaults();
// Of accumulation, clipping, loss scaling, precision and the rules of SGD and Adam.
Planters MechanismFaults();
// Of averages, checkpoints, evaluation and attention.
Planters StateFaults();
Planters ScheduleFaults();
// Of rates, updates and the rules of optimizers.
Planters UpdateFaults();
// Of what ranks do together; each needs two of them.
Planters RankFaults();

// A small language model, which is trained while somebody waits.
void NeedGpt(Plan& plan);
// A cosine after a warm-up, and steps enough for it.
void NeedSchedule(Plan& plan);
// A part of the state loses its low bits on its way into a checkpoint.
void PlantSavedInBf16(Plan& plan, const char* part);

}  // namespace dlcheck::reference
