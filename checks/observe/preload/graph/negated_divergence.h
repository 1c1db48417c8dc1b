// A divergence from a normal distribution that is subtracted from a loss: exp(v) with a minus
// beside v with a plus falls without limit as v grows.
#pragma once

#include <torch/torch.h>

namespace dlcheck {

// Whether the graph of this loss subtracts one. Cost: a walk over at most 64 nodes.
bool SubtractsDivergence(const at::Tensor& root);

}  // namespace dlcheck
