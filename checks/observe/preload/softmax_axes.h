// Finds a softmax along the first axis of scores that the loss compares sample by sample.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class SoftmaxAxes {
 public:
  // An operation with gradients is about to run. Only shapes are read.
  void Saw(const at::RecordFunction& function);
  // A loss was given outputs of so many samples.
  void LossGiven(int64_t samples, ProbeRecorder& recorder);

 private:
  int64_t rows_ = 0;  // of the last such softmax since the last loss; 0: none
  Probe::Site site_{"", 0, ""};
};

}  // namespace dlcheck
