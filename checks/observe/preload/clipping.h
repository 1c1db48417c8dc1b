// Finds clip_grad_norm_ and clip_grad_value_ in the operations of a step. Both are functions in
// LibTorch's headers, compiled into the program: they are known by what they calculate.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class Clipping {
 public:
  // An operation is about to run.
  void Saw(const at::RecordFunction& function, ProbeRecorder& recorder);
  // One of which IsNorm is true has returned.
  void Returned(const at::RecordFunction& function);
  static bool IsNorm(const at::RecordFunction& function);

 private:
  void SawNorm(const at::RecordFunction& function);
  void SawFactor(const at::RecordFunction& function);
  static bool IsGradient(const at::Tensor& tensor, const ProbeRecorder& recorder);

  double norm_ = -1;   // the last that was calculated, of all gradients together if it is clipped
  double bound_ = 0;   // that the next product of a gradient brings them to; 0: none
  double kind_ = 2;    // which norm that was
  int64_t step_ = -1;  // that was clipped last
};

}  // namespace dlcheck
