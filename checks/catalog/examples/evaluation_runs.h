// The run that examples of the checks of area evaluation start from.
#pragma once

#include "checks/engine/evidence.h"

namespace dlcheck {

struct EvaluationValues {
  int changed = 0;            // of the three evaluations, the last so many leave the model changed
  bool random_drawn = false;  // all of them draw random numbers
  int in_training_mode = 0;   // the last so many run in training mode
  bool begins_in_training_mode = false;  // so does the first, before any step
  bool swaps_average = false;            // an average of the weights is kept
  int batches = 2;                       // of each evaluation
  int with_gradients = 0;                // so many of them have gradients enabled
  bool declared = true;                  // the program says where evaluations end
  int steps_between = 1;
  bool has_dropout = true;
  bool draws_samples = false;  // after each, in one forward in training mode that changes the model
};

// Four steps of a model with dropout, and an evaluation of two batches before each but the last; or
// as many steps after each as it says.
Evidence ThreeEvaluations(const EvaluationValues& values);

// Four steps of a model with dropout, and one forward without gradients after the last of them, or
// before it.
Evidence OneForward(bool in_training_mode, bool after_all_steps = true);

}  // namespace dlcheck
