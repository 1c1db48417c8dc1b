// Optimizers that begin without the state of another, which they replace: of the same kind, over
// the same parameters.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class ReplacedOptimizers {
 public:
  // The optimizer is about to step.
  void BeginStep(const torch::optim::Optimizer& optimizer, int number, ProbeRecorder& recorder);
  // It has stepped: some live for one step alone.
  void AfterStep(const torch::optim::Optimizer& optimizer, int number);

 private:
  struct Known {
    std::string type;
    std::vector<const at::TensorImpl*> parameters;
    bool keeps_state = false;  // it had some before or after one of its steps
  };
  void Meet(const torch::optim::Optimizer& optimizer, int number, ProbeRecorder& recorder);

  std::map<int, Known> known_;                             // by number
  std::unordered_map<const at::TensorImpl*, int> latest_;  // by the first parameter
};

}  // namespace dlcheck
