// How the gradients of the ranks become one mean: called around each forward and backward pass.
#pragma once

#include <torch/torch.h>

#include "reference/distributed/process_group/ranks.h"

namespace dlcheck::reference {

class GradientSharing {
 public:
  virtual ~GradientSharing() = default;

  // A pass that is not `shared` keeps the gradients of this rank, to which the next one adds: they
  // are averaged once, in the last pass of a window.
  virtual void BeforeForward(bool shared) = 0;
  // `outputs` is where the backward pass starts from.
  virtual void BeforeBackward(bool shared, const torch::Tensor& outputs) = 0;
  virtual void AfterBackward(bool shared) = 0;
};

// Buffers of rank 0 for all, once a window, as DistributedDataParallel does.
class SharedBuffers {
 public:
  // `module` outlives this.
  SharedBuffers(const Ranks& ranks, const torch::nn::Module& module, bool is_on)
      : ranks_(ranks), module_(module), is_on_(is_on) {}

  // Before the first forward pass of a window; `shared` as above.
  void BeforeForward(bool shared) {
    if (begins_window_ && is_on_) ranks_.TakeFromFirst(module_.buffers());
    begins_window_ = shared;
  }

 private:
  const Ranks ranks_;
  const torch::nn::Module& module_;
  const bool is_on_;
  bool begins_window_ = true;
};

// Gives every rank the parameters and buffers of rank 0. Errors: c10::Error that names the
// parameter whose shape differs.
void StartAlike(const Ranks& ranks, const torch::nn::Module& module);

}  // namespace dlcheck::reference
