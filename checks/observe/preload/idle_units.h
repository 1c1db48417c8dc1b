// Units of an activation that let no gradient through for any row of a batch: a ReLU that gives
// zero, a tanh or sigmoid at its limits.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class IdleUnits {
 public:
  static bool IsActivation(const at::RecordFunction& function);
  // One that lies in no other operation has returned, with gradients. Waits for a share of its
  // numbers in steps 0, 1, 2, 4, 8 and so on.
  void Returned(const at::RecordFunction& function, ProbeRecorder& recorder);

 private:
  int64_t step_ = -1;
  uint32_t micro_step_ = 0;
  int number_ = 0;  // of the next one in this micro-step
};

}  // namespace dlcheck
