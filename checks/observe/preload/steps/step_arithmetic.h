// The numbers that steps work with: gradients that many micro-batches add up in half precision, and
// weights that grow.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <unordered_map>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class StepArithmetic {
 public:
  // An optimizer is about to step.
  void BeginStep(int optimizer, ProbeRecorder& recorder);
  // It has. Cost: a norm of each matrix, after steps 0, 1, 2, 4, 8 and so on.
  void AfterStep(int optimizer, int64_t step, ProbeRecorder& recorder);

 private:
  struct Size {
    double first, last;
  };
  std::unordered_map<uint32_t, Size> sizes_;  // by thing of a parameter
};

}  // namespace dlcheck
