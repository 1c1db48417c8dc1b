// What several parts read from nodes of the autograd graph.
#pragma once

#include <torch/torch.h>

namespace dlcheck {

// Whether a node gathers the gradient of a tensor of the program, as of a parameter.
bool IsLeaf(const torch::autograd::Node& node);

// The only node before this one that is no leaf; null if there are more or none.
torch::autograd::Node* OnlyInput(const torch::autograd::Node& node);

}  // namespace dlcheck
