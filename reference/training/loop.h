// The training loop, as a lecture writes it.
#pragma once

#include <cstdint>

#include "reference/data/data.h"
#include "reference/models/models.h"
#include "reference/training/observer.h"
#include "reference/optimization/optimizers.h"
#include "reference/training/plan.h"
#include "reference/training/progress.h"

namespace dlcheck::reference {

struct Scores {
  double loss = 0;      // mean over samples
  double accuracy = 0;  // fraction of samples
};

// What a run works on; all of it outlives the run.
struct Training {
  const Plan& plan;
  const Dataset& dataset;
  Batches& batches;
  Model& model;
  Optimizer& optimizer;
  const Observer& observer;
  Progress& progress;
};

// Trains for the steps of the recipe; evaluates on the whole val split before the first step, every
// `evaluate_every` steps, and at the end, whose scores are returned.
Scores Train(Training& training);

}  // namespace dlcheck::reference
