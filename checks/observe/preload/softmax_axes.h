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
  // A loss was given outputs (samples, classes).
  void LossGiven(const at::Tensor& outputs, ProbeRecorder& recorder);

 private:
  struct Last {
    int64_t rows = 0;  // along its axis; 0: none
    int64_t samples = 0, classes = 0;
  };
  Last last_;  // such softmax since the last loss
  Probe::Site site_{"", 0, ""};
};

}  // namespace dlcheck
