// Data parallelism on replicas of one model (DDP): every rank has all of it, and c10d's Reducer
// takes the mean of the gradients over the ranks while the backward pass goes on.
//
// Source: Li et al. 2020, PyTorch Distributed: Experiences on Accelerating Data Parallel Training.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "reference/distributed/ranks.h"

namespace c10d {
class Reducer;
}  // namespace c10d

namespace dlcheck::reference {

class Replicas {
 public:
  struct Options {
    int64_t first_bucket_bytes = int64_t{1} << 20;  // small, so that the first sum starts early
    int64_t bucket_bytes = int64_t{25} << 20;
    bool finds_unused = false;  // parameters that take no part in a step count as gradient 0
    bool takes_buffers = true;  // of rank 0, before the first forward pass of a window
  };

  // Gives every rank the parameters and buffers of rank 0. All ranks call, with models alike.
  // `module` outlives this; which of its parameters require a gradient stays as it is.
  //
  // Errors: c10::Error that names the parameter whose shape differs.
  Replicas(const Ranks& ranks, torch::nn::Module& module, const Options& options);
  ~Replicas();
  Replicas(const Replicas&) = delete;
  Replicas& operator=(const Replicas&) = delete;

  // Before each forward pass in training. A backward pass that is not `shared` keeps the gradients
  // of this rank, to which the next one adds: they are averaged once, in the last of a window.
  void BeforeForward(bool shared);
  // Between forward and backward pass; `outputs` is where the backward pass starts from.
  void BeforeBackward(bool shared, const torch::Tensor& outputs);

 private:
  void TakeBuffers();

  const Ranks ranks_;
  torch::nn::Module& module_;
  const Options options_;
  std::shared_ptr<c10d::Reducer> reducer_;
  bool begins_window_ = true;
};

}  // namespace dlcheck::reference
