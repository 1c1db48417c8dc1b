// Attention that a program computes itself: scores that masked_fill() hides, a softmax, and a
// product with the values. Finds weight at hidden positions, a softmax along another axis than the
// one that the product sums over, and scores without a scale.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <optional>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class AttentionWeights {
 public:
  // An operation that lies in no other begins, with gradients enabled. True if what it returns is
  // to be looked at.
  bool Begins(const at::RecordFunction& function, ProbeRecorder& recorder);
  // It has returned; its inputs are gone.
  void Returned(const at::RecordFunction& function, ProbeRecorder& recorder);

 private:
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  // The masking or the softmax under way.
  struct Pending {
    at::Tensor mask;   // of the masking, or of the scores that the softmax is given
    int64_t axis = 0;  // of the softmax, counted from the end; 0 of a masking
  };
  struct Scores {
    Weak tensor;
    at::Tensor mask;
  };
  struct Weights {
    Weak tensor;
    int64_t axis;  // counted from the end
    Probe::Site site;
  };
  bool MaskingBegins(const at::RecordFunction& function);
  bool SoftmaxBegins(const at::RecordFunction& function, ProbeRecorder& recorder);
  void ProductBegins(const at::RecordFunction& function, ProbeRecorder& recorder);
  bool HasLooksLeft(int64_t step);
  static void LookAtScale(const at::Tensor& scores, ProbeRecorder& recorder);
  static void LookBehindMask(const at::Tensor& mask, const at::Tensor& weights,
                             ProbeRecorder& recorder);

  std::optional<Pending> pending_;
  std::optional<Scores> scores_;    // masked last
  std::optional<Weights> weights_;  // of the last softmax along another axis than the last one
  int64_t step_ = -1;
  int looks_ = 0;  // behind masks, in this step
};

}  // namespace dlcheck
