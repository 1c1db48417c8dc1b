// Parameters of which each rank keeps its stretch alone (ZeRO 3): those of a block are put together
// when an operator is about to read one of them, and let go when one reads those of another block.
// Views that a backward pass has kept of them come back with them, as the memory is the same. While
// a block is in use, the one that came next in the pass before is on its way.
//
// All ranks must use the blocks in one order, which the same operators on all do. Who reads past
// operators, through a pointer of his own, finds nothing.
//
// Source: Rajbhandari et al. 2020, ZeRO; Zhao et al. 2023, PyTorch FSDP.
#pragma once

#include <torch/torch.h>

#include <cstddef>
#include <exception>
#include <functional>
#include <optional>
#include <unordered_map>
#include <vector>

#include "reference/distributed/zero/block_order.h"
#include "reference/distributed/zero/operator_watch.h"
#include "reference/distributed/zero/shards.h"

namespace dlcheck::reference {

class ShardedParameters {
 public:
  // Lets go of all parameters of `shards`, which outlives this. With `stay_whole` they are there at
  // any time, for who looks at them when nobody knows: then this saves no memory.
  //
  // Errors: c10::Error for a parameter that shares its memory with another tensor.
  ShardedParameters(const Shards& shards, bool stay_whole);

  // Runs a forward or a backward pass, in which every operator finds the parameters that it reads.
  // All ranks call. Errors: what the pass throws, or, before that, a collective; c10::Error if a
  // rank uses another block than the others. Cost: a collective for each bundle that is read, and
  // some microseconds an operator.
  void During(const std::function<void()>& pass);

  // After a change of what the ranks keep: the next pass finds what it is now, and parameters that
  // stay whole are put together at once. All ranks call.
  void Refresh();

  // Puts all parameters together, until they change or a pass ends. All ranks call.
  void Gather();

 private:
  struct Block {
    std::vector<Shards::Bundle> bundles;
    std::vector<torch::Tensor> wholes;
    bool is_whole = true;
  };

  // A block on its way: what ends that, once.
  struct Coming {
    size_t block;
    std::vector<std::function<void()>> ends;
  };

  void Need(const OperatorWatch::Storages& storages, bool is_outermost);
  Coming Begin(size_t block) const;
  void Gather(size_t block);
  void Prefetch(size_t block);
  void LetGo(Block& block);
  void LetGoAll();

  const Shards& shards_;
  const bool stays_whole_;
  std::vector<Block> blocks_;
  std::unordered_map<const c10::StorageImpl*, size_t> block_of_;
  BlockOrder order_;
  std::optional<Coming> coming_;
  std::exception_ptr failure_;  // of a collective within the pass that is under way
};

}  // namespace dlcheck::reference
