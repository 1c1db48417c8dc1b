// Models that were seen before it is known which of them train. Keeps none of their tensors alive.
#pragma once

#include <torch/torch.h>

#include <optional>
#include <unordered_set>
#include <vector>

#include "checks/observe/probe/model_tree.h"

namespace dlcheck {

class PendingModels {
 public:
  // Somebody asks a model for its parameters. One whose parameters are all known is not looked at.
  void Saw(const torch::nn::Module& model);

  bool empty() const { return entries_.empty(); }

  // The models seen so far that are still there and not part of another, in order; forgets them.
  std::vector<ModelTree> Take();

 private:
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl>;
  struct Entry {
    ModelTree tree;  // its tensors are undefined
    std::vector<Weak> parameters, buffers;
  };
  static std::optional<ModelTree> Locked(const Entry& entry);
  bool IsKnown(const torch::nn::Module& model) const;

  std::vector<Entry> entries_;
  std::unordered_set<const at::TensorImpl*> known_;  // parameters of models seen
};

}  // namespace dlcheck
