// Checkpoints of a run: what is written, what is read back, and which are kept.
#pragma once

#include <optional>
#include <string>

#include "reference/training/training.h"

namespace dlcheck::reference {

// Goes on from the newest checkpoint of the recipe's folder, if the recipe asks for it and there is
// one, and opens the log there. Errors: InputRejected for a checkpoint that is broken or of another
// recipe; UsageError for a folder with checkpoints and a recipe that does not ask to go on.
void Begin(Training& training);

// Writes a checkpoint and removes those that are not to be kept. A failure is a line on standard
// error, and the run goes on with the older ones in place; false then. Nothing without a folder.
bool SaveCheckpoint(Training& training);

// Writes the whole state to one file, as a run that is alone has it. All ranks call. Errors:
// SavingFailed.
void SaveState(Training& training, const std::string& path);

// Removes all checkpoints that are not to be kept.
void PruneCheckpoints(const Training& training);

// The step of the best checkpoint that is there, by the mean of select-window evaluations.
std::optional<int64_t> BestCheckpoint(const Training& training);

}  // namespace dlcheck::reference
