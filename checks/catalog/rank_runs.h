// Runs of several processes, for examples: each step of each process is what a function says of it.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "checks/engine/evidence.h"
#include "checks/engine/run_builder.h"
#include "checks/signals/rank_groups.h"

namespace dlcheck {

struct RankStep {
  double weights = 0;  // digest of both parameters before the step; 0 is replaced by its number
  double head = 0;     // digest of the head alone, where it is another
  double gradient = 0.1, rate = 0.1;
  double head_gradient = 0;     // where it is another; 0: the same
  double batch = 0, drawn = 0;  // digests of the batch and of the random numbers; 0: not known
  double loss = 1;
  double share = 1, targets = 32;      // of the loss
  double own_time = 0, step_time = 0;  // seconds; 0: not known
  int passes = 1, sharing = 1;         // forwards of the wrapper, and the first of them that share
  bool last_shares = true;
  bool fetches = false;  // a batch of the loader, before the first pass
  bool makes_backward = true, makes_step = true;
  bool clears_between = false;  // gradients, after each pass but the last
};

struct RankRun {
  uint16_t processes = 2;
  int steps = 8;
  std::string_view kind = kReplicas;
  bool head_is_beside = false;  // of peers, whatever the others are
  std::function<RankStep(uint16_t rank, int step)> step = [](uint16_t, int) { return RankStep(); };
};

RunBuilder OfRanks(const RankRun& run);

}  // namespace dlcheck
