// One run of the trainer, from a plan to its scores: builds data, model and optimizer in that order
// and trains. What main.cc does apart from reading its flags and turning exceptions into a status.
#pragma once

#include "reference/training/loop.h"
#include "reference/training/observer.h"
#include "reference/training/plan.h"

namespace dlcheck::reference {

struct Outcome {
  Ended ended;
  Scores scores;
  Model model;
  Counters counters;
  // Of ZeRO 3 the parameters of the model are there once they are put together.
  std::unique_ptr<Shards> shards;
  std::unique_ptr<ShardedParameters> sharded_parameters;
};

// `ranks` train together, and all call with one plan; the first of them prints, logs and saves.
//
// A given plan gives the same weights and scores each time, on one machine with one thread count.
// Errors: UsageError, InputRejected, SavingFailed if the last state could not be written, and
// whatever the model throws.
Outcome RunPlan(const Plan& plan, const Observer& observer, const Ranks& ranks = Ranks());

}  // namespace dlcheck::reference
