// What an optimizer of LibTorch is told: the weight decay of its groups, an epsilon that outweighs
// the size of the gradients, and a learning rate that it does not read.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <utility>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class OptimizerSettings {
 public:
  // The optimizer is about to step. Waits for a few numbers in its steps 1, 2, 4, 8 and so on.
  void Look(const torch::optim::Optimizer& optimizer, int number, ProbeRecorder& recorder);
  // set_lr() of options, which may be those of a group, or a copy that no optimizer reads.
  void RateSet(const torch::optim::OptimizerOptions& options, double lr) { set_ = {&options, lr}; }

 private:
  void LookAtDefaults(const torch::optim::Optimizer& optimizer, int number,
                      ProbeRecorder& recorder);
  void LookAtCopy(const torch::optim::Optimizer& optimizer, int number, ProbeRecorder& recorder);

  std::map<int, int64_t> steps_;     // of each optimizer so far
  std::map<int, double> usual_lrs_;  // what defaults() of each held at its first step
  // The last rate that was set since the last step, and whose; it may be gone.
  std::pair<const torch::optim::OptimizerOptions*, double> set_{nullptr, 0};
  int64_t copies_set_ = 0;  // in how many steps a copy alone was given a rate
};

}  // namespace dlcheck
