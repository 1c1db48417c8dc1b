// Gradients of which each rank keeps its stretch alone (ZeRO 2 and 3): as soon as those of a bundle
// are there, their mean over the ranks is shared out and the whole ones are let go, while the
// backward pass goes on.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "reference/distributed/ddp/gradient_sharing.h"
#include "reference/distributed/zero/shard_groups.h"
#include "reference/distributed/zero/shards.h"

namespace dlcheck::reference {

class ShardedGradients : public GradientSharing {
 public:
  struct Options {
    // A parameter that takes no part in a step of one rank counts as gradient 0 there; with this it
    // has none if it takes part on no rank, for one more small collective a step.
    bool finds_unused = false;
    bool compresses = false;  // gradient_compression.h
  };

  // `module` and `shards`, of its parameters and the ranks within a group, outlive this. With
  // several groups a stretch is summed within each, and then over them.
  ShardedGradients(const ShardGroups& groups, const torch::nn::Module& module, const Shards& shards,
                   const Options& options);
  ~ShardedGradients() override;

  void BeforeForward(bool shared) override { buffers_.BeforeForward(shared); }
  void BeforeBackward(bool shared, const torch::Tensor& /*outputs*/) override { is_on_ = shared; }
  // Then the gradients of each rank's stretches are there, and no others.
  void AfterBackward(bool shared) override;

 private:
  struct Bucket;
  class Arrival;  // of a gradient

  void Arrived(size_t bucket);
  void ShareNext();
  void Share(Bucket& bucket);
  torch::Tensor PartOfMean(torch::Tensor gradients) const;
  void Keep(Bucket& bucket);
  void DropUnused();

  const ShardGroups groups_;
  const std::vector<Shards::Part>& parts_;
  SharedBuffers buffers_;
  std::vector<Bucket> buckets_;   // in the order in which gradients are ready
  size_t next_ = 0;               // bucket to share: in one order on all ranks
  std::vector<double> was_used_;  // by part: 1 or 0, in the pass that is shared
  const Options options_;
  bool is_on_ = false;
};

}  // namespace dlcheck::reference
