// Stochastic depth: in training a sample passes by a residual branch at random.
// Source: Huang et al. 2016.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace dlcheck::reference {

// `branch` (B, ...) times 1 / (1 - probability), or 0 for a sample that passes by. Draws one number
// a sample from the default generator, or none where the probability is 0.
torch::Tensor Kept(const torch::Tensor& branch, double probability);

// The probability of the block-th of `blocks`, from 0 on: it grows evenly to `last`.
double StochasticDepthOf(double last, int64_t block, int64_t blocks);

}  // namespace dlcheck::reference
