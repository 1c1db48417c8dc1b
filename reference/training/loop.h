// The training loop, as a lecture writes it.
#pragma once

#include <string>

#include "reference/training/evaluate.h"
#include "reference/training/training.h"

namespace dlcheck::reference {

// How a run ended before all its steps were done.
enum class Ended : uint8_t { kAllSteps, kPatience, kStopAfter, kSignal };

struct TrainingResult {
  Ended ended = Ended::kAllSteps;
  Scores scores;          // of the last evaluation; none of a run that was stopped
  bool all_saved = true;  // false if the last checkpoint could not be written
};

// Trains from where `training` stands to the steps of the recipe; evaluates on the val split before
// the first step, every `evaluate_every` steps, and at the end.
TrainingResult Train(Training& training);

}  // namespace dlcheck::reference
