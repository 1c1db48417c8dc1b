// The graph of a loss, walked once for all parts that look at it.
#pragma once

#include <torch/torch.h>

#include <string>
#include <unordered_map>
#include <vector>

namespace dlcheck {

struct WalkedGraph {
  // At most 20,000 nodes.
  static WalkedGraph Of(const at::Tensor& root);

  // Those that take the result of a node.
  const std::vector<torch::autograd::Node*>& UsersOf(const torch::autograd::Node* node) const;

  std::vector<torch::autograd::Node*> nodes;
  std::unordered_map<const torch::autograd::Node*, std::vector<torch::autograd::Node*>> users;
};

// Nodes that only arrange or convert what they are given.
bool IsArranging(const std::string& name);

// How many nodes go into this one.
size_t InputsOf(const torch::autograd::Node& node);

// Whether a node gives one number.
bool GivesOneNumber(const torch::autograd::Node& node);

// How many numbers a node gives first; -1 where that is not known.
int64_t NumbersOf(const torch::autograd::Node& node);

}  // namespace dlcheck
