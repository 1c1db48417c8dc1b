// Finds steps that no function of LibTorch makes: those of an optimizer of the program's own, or of
// a loop that changes the weights itself. They show by the version counters of the weights, which
// every write in place raises.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class UnseenSteps {
 public:
  // An optimizer whose class is none of LibTorch's.
  void Add(int number, const std::vector<at::Tensor>& parameters);
  bool Has(int number) const { return own_.count(number) > 0; }

  // A step of LibTorch was seen: what changed since the last backward is its work.
  void StepSeen() { seen_ = any_seen_ = true; }
  // A backward is over: weights are as the step will find them.
  void BackwardEnds(ProbeRecorder& recorder);
  // Gradients are about to be zeroed, or the next backward to begin: tells the recorder of steps
  // that were made since. Cost: a look at the counter of each parameter.
  void Infer(ProbeRecorder& recorder);

 private:
  using Version = uint32_t;
  struct Own {
    std::vector<at::Tensor> parameters;
    bool begun = false;
  };
  std::vector<at::Tensor> Changed() const;

  std::unordered_map<int, Own> own_;  // by number of the optimizer
  std::vector<std::pair<at::Tensor, Version>> versions_;
  bool seen_ = true;       // nothing is compared before the first backward
  bool any_seen_ = false;  // a program that steps with LibTorch's optimizers does so throughout
};

}  // namespace dlcheck
