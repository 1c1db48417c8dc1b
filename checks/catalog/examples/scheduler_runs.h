// The run that examples of the scheduler checks start from: one optimizer, one scheduler, and the
// place and number of its steps.
#pragma once

#include <cstdint>
#include <string_view>

#include "checks/engine/evidence.h"

namespace dlcheck {

// kBetweenBatches: after a backward call whose optimizer step comes behind the next forward pass.
enum class MovesAt : uint8_t { kAfterStep, kBeforeStep, kBeforeForward, kBetweenBatches };

struct ScheduledRun {
  int steps = 64;
  double horizon = 0;  // the schedule's length in scheduler steps
  bool rises_again = false;
  bool restarts = false;    // rises again on purpose
  bool milestones = false;  // `horizon` is the last of them
  bool no_end = false;      // `horizon` counts the scheduler steps before its first change
  int every = 1;            // optimizer steps between scheduler steps; 0: never stepped
  int moves = 1;            // at once
  MovesAt at = MovesAt::kAfterStep;
  double factor = 0.9;      // of the learning rate at each scheduler step
  bool is_second = false;   // another scheduler was built before it
  int moves_optimizer = 0;  // ordinal of the scheduler's optimizer
  int backward_calls = 1;   // of each step
  bool skips_first = false;
  bool loaded = false;
  bool depends = false;  // the program steps it in the branch of an if
  std::string_view world_size = "";
  std::string_view batches = "";  // of one pass over the loader
};

// Steps are those of optimizer 0.
Evidence Scheduled(const ScheduledRun& values);

}  // namespace dlcheck
