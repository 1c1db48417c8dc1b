// How every stateful part of a run shows its state, so that saving, loading and digests are one
// piece of code: each part calls `visit` for each of its tensors, always in the same order.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>

namespace dlcheck::reference {

// `name` is unique within the part, with slashes between its levels. Loading writes into `tensor`
// in place; its shape and type are what a checkpoint must hold.
using VisitTensor = std::function<void(const std::string& name, torch::Tensor& tensor)>;

}  // namespace dlcheck::reference
