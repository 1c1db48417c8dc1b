// Finds clip_grad_norm_ and clip_grad_value_ in the operations of a step. Both are functions in
// LibTorch's headers, compiled into the program: they are known by what they calculate.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <unordered_set>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class Clipping {
 public:
  // An operation is about to run.
  void Saw(const at::RecordFunction& function, ProbeRecorder& recorder);
  // One of which IsNorm is true has returned.
  void Returned(const at::RecordFunction& function);
  static bool IsNorm(const at::RecordFunction& function);
  // What was clipped before a backward changes gradients does not count.
  void BackwardBegins() {
    clipped_.clear();
    bound_ = 0;
  }
  // An optimizer is about to use its gradients: how many of them were clipped?
  void Consumed(int optimizer, ProbeRecorder& recorder);

 private:
  using Storages = std::unordered_set<const c10::StorageImpl*>;
  void SawNorm(const at::RecordFunction& function);
  void SawFactor(const at::RecordFunction& function, ProbeRecorder& recorder);
  void LookForOverflow(ProbeRecorder& recorder);
  // Where the gradient lies that `tensor` shares its numbers with; null if it is none.
  const c10::StorageImpl* GradientOf(const at::Tensor& tensor, ProbeRecorder& recorder);

  double norm_ = -1;    // the last that was calculated, of all gradients together if it is clipped
  double bound_ = 0;    // that the next product of a gradient brings them to; 0: none
  double kind_ = 2;     // which norm that was
  int64_t step_ = -1;   // that was clipped last
  Storages clipped_;    // gradients of the step below
  Storages gradients_;  // all that it has
  int64_t gradients_of_ = -1;
  bool told_ = false;        // that values are clipped
  bool overflowed_ = false;  // a norm, which was told
};

}  // namespace dlcheck
