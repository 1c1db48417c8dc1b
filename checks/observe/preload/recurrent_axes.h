// Finds a recurrent layer that runs along the samples of a batch, because the axes of its input are
// not in the order that it was built for.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <unordered_map>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class RecurrentAxes {
 public:
  static bool IsRecurrent(const at::RecordFunction& function);
  // One of which IsRecurrent is true is about to run with gradients. Only shapes are read.
  void Saw(const at::RecordFunction& function, ProbeRecorder& recorder);
  // A loss is given one target for each sample.
  void LossGiven(const at::Tensor& outputs, const at::Tensor& targets, ProbeRecorder& recorder);

 private:
  struct Sizes {
    int64_t batch = 0, time = 0;
    int calls = 0, losses = 0;  // of the step; losses with as many targets as there are times
    uint32_t layer = 0;
    Probe::Site site{"", 0, ""};
  };

  void StepEnded(ProbeRecorder& recorder);

  int losses_ = 0;                                          // of the step
  int64_t step_ = -1;                                       // that the sizes are of
  std::unordered_map<const at::TensorImpl*, Sizes> sizes_;  // by first weight
};

}  // namespace dlcheck
