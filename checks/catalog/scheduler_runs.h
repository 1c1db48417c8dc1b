// The run that examples of checks on schedulers start from: one optimizer, one scheduler, and where
// and how often it moves.
#pragma once

#include <cstdint>
#include <string_view>

#include "checks/engine/evidence.h"

namespace dlcheck {

enum class MovesAt : uint8_t { kAfterStep, kBeforeStep, kBeforeForward };

struct ScheduledRun {
  int steps = 64;
  double horizon = 0;  // moves that the scheduler is made for
  bool rises_again = false;
  int every = 1;  // steps between moves; 0: it never moves
  int moves = 1;  // at once
  MovesAt at = MovesAt::kAfterStep;
  double factor = 0.9;      // of the rate at each move
  int moves_optimizer = 0;  // ordinal of the optimizer whose rate it moves
  int backward_calls = 1;   // of each step
  bool skips_first = false;
  bool loaded = false;
  std::string_view world_size = "";
  std::string_view batches = "";  // of one iteration over the loader
};

// Steps are those of optimizer 0.
Evidence Scheduled(const ScheduledRun& values);

}  // namespace dlcheck
