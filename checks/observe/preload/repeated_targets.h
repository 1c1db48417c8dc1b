// Finds a batch that is given again and again: a loss has the same targets in many steps, and then
// others. Inputs may be changed at random, targets are not.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <string>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class RepeatedTargets {
 public:
  // A loss function was given these, in a sampled step of training. Cost: a pass over the targets.
  void LossGiven(const std::string& function, const at::Tensor& targets, ProbeRecorder& recorder);
  // Another training begins, which may have other data.
  void OptimizerBuilt() { same_.clear(); }

 private:
  struct Same {
    uint64_t digest = 0;
    bool differ = false;  // among themselves
    int64_t steps = 0;    // one after the other, that are sampled
    int64_t last_step = -1;
    bool is_told = false;
  };

  std::map<std::string, Same> same_;  // by function and shape
};

}  // namespace dlcheck
