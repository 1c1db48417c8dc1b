// Checkpoints of which one part, the model or the optimizer, goes on and the other does not: its
// file was never read, or its weights went into another object.
#pragma once

#include <optional>

#include "checks/engine/report.h"
#include "checks/signals/checkpoint/state_files.h"

namespace dlcheck::checkpoint {

// Whether a run goes on from a file. Programs go back to weights of the same run on purpose, and
// also start from weights that are frozen in part.
bool Resumes(const StateFiles& files, const StateFiles::Load& load);

// What follows a file that was read: "8 steps followed with new state".
std::string StepsAfter(const StateFiles::Load& load);

// Whether training follows a file of an optimizer, and the file of its model was never read. No
// fault where the model goes on from what it learned before.
bool LacksItsModel(const StateFiles& files, const StateFiles::Load& load);

// The finding, if training goes on from this file by half. Two files are a pair only if the run
// writes them in the very same steps.
std::optional<Finding> HalfRestored(const StateFiles& files, const StateFiles::Load& load);

}  // namespace dlcheck::checkpoint
