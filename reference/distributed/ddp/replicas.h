// Data parallelism on replicas of one model (DDP): every rank has all of it, and c10d's Reducer
// takes the mean of the gradients over the ranks while the backward pass goes on.
//
// Source: Li et al. 2020, PyTorch Distributed: Experiences on Accelerating Data Parallel Training.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>

#include "reference/distributed/ddp/gradient_sharing.h"
#include "reference/distributed/process_group/ranks.h"

namespace c10d {
class Reducer;
}  // namespace c10d

namespace dlcheck::reference {

class Replicas : public GradientSharing {
 public:
  struct Options {
    int64_t first_bucket_bytes = int64_t{1} << 20;  // small, so that the first sum starts early
    int64_t bucket_bytes = int64_t{25} << 20;
    // Where parameters may take no part in a step: gradient 0 on that rank, none if on no rank.
    bool finds_unused = false;
    bool takes_buffers = true;  // of rank 0, before the first forward pass of a window
    bool compresses = false;    // gradient_compression.h
  };

  // All ranks call, with models alike (StartAlike). `module` outlives this; which of its parameters
  // require a gradient stays as it is.
  Replicas(const Ranks& ranks, const torch::nn::Module& module, const Options& options);
  ~Replicas() override;

  void BeforeForward(bool shared) override;
  void BeforeBackward(bool shared, const torch::Tensor& outputs) override;
  void AfterBackward(bool /*shared*/) override {}

 private:
  const Options options_;
  SharedBuffers buffers_;
  std::shared_ptr<c10d::Reducer> reducer_;
};

}  // namespace dlcheck::reference
