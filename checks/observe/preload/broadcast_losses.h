// Finds losses that compare a column of outputs with a row of targets, so that they broadcast: each
// output meets all targets.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class BroadcastLosses {
 public:
  // Whether an operation is one that may broadcast a row and a column for a loss.
  static bool MayBroadcast(const at::RecordFunction& function);
  // Of such an operation: whether it subtracts a row from a column, or makes them one shape for a
  // loss function. Only shapes are read.
  bool Broadcasts(const at::RecordFunction& function);
  // A difference of which Broadcasts is true has returned.
  void Returned(const at::RecordFunction& function);
  // Before a backward from `root`. Tells of a difference that the loss is a mean or a sum of.
  void Look(const at::Tensor& root, ProbeRecorder& recorder);
  // A loss function was given these. Gives the shapes that the program gave, "64x1 and 64"; empty
  // if they do not broadcast.
  std::string LossGiven(const at::Tensor& outputs, const at::Tensor& targets);

 private:
  std::string expanded_;  // shapes that a loss function of LibTorch's headers made one, before it
  std::string shapes_;    // of the last difference
  std::weak_ptr<torch::autograd::Node> difference_;
  int64_t last_step_ = -1;
  int steps_ = 0;  // whose loss was made of one
};

}  // namespace dlcheck
