// Gradients of which each rank keeps its stretch alone (ZeRO 2): as soon as those of a bucket are
// there, their mean over the ranks is shared out and the whole ones are let go, while the backward
// pass goes on.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "reference/distributed/gradient_sharing.h"
#include "reference/distributed/shards.h"

namespace dlcheck::reference {

class ShardedGradients : public GradientSharing {
 public:
  // `module` and `shards`, of its parameters, outlive this. A parameter that takes no part in a
  // step of one rank counts as gradient 0 there; with `finds_unused` it has none if it takes part
  // on no rank, for one more small collective a step.
  ShardedGradients(const Ranks& ranks, const torch::nn::Module& module, const Shards& shards,
                   bool finds_unused, int64_t bucket_bytes = int64_t{25} << 20);
  ~ShardedGradients() override;

  void BeforeForward(bool shared) override { buffers_.BeforeForward(shared); }
  void BeforeBackward(bool shared, const torch::Tensor& /*outputs*/) override { is_on_ = shared; }
  // Then the gradients of each rank's stretches are there, and no others.
  void AfterBackward(bool shared) override;

 private:
  struct Bucket;
  class Arrival;  // of a gradient

  void Arrived(size_t bucket);
  void Share(Bucket& bucket);
  void Keep(Bucket& bucket);
  void DropUnused();

  const Ranks ranks_;
  const std::vector<Shards::Part>& parts_;
  SharedBuffers buffers_;
  std::vector<Bucket> buckets_;   // in the order in which gradients are ready
  size_t next_ = 0;               // bucket to share: in one order on all ranks
  std::vector<double> was_used_;  // by part: 1 or 0, in the pass that is shared
  const bool finds_unused_;
  bool is_on_ = false;
};

}  // namespace dlcheck::reference
