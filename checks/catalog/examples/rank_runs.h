// Runs of several ranks, for examples: a function gives each step of each rank.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "checks/engine/evidence.h"
#include "checks/engine/run_builder.h"
#include "checks/signals/distributed/rank_groups.h"

namespace dlcheck {

struct RankStep {
  double weights = 0;  // digest of both parameters before the step; 0 is replaced by its number
  double head = 0;     // digest of the head alone, if it differs
  double gradient = 0.1, rate = 0.1;
  double head_gradient = 0;     // if it differs; 0: the same
  double batch = 0, drawn = 0;  // digests of the batch and of the RNG state; 0: unknown
  double loss = 1;
  double share = 1, targets = 32;      // of the loss
  double own_time = 0, step_time = 0;  // seconds; 0: unknown
  int passes = 1, sharing = 1;         // DDP forwards, and how many of the first synchronize
  bool last_shares = true;
  bool fetches = false;  // a batch of the loader, before the first pass
  bool makes_backward = true, makes_step = true;
  bool clears_between = false;  // gradients are zeroed after each pass but the last
};

struct RankRun {
  uint16_t processes = 2;
  int steps = 8;
  std::string_view kind = kReplicas;
  bool head_is_beside = false;  // an undeclared group, whatever the others are
  std::function<RankStep(uint16_t rank, int step)> step = [](uint16_t, int) { return RankStep(); };
};

RunBuilder OfRanks(const RankRun& run);

}  // namespace dlcheck
