// Activation checkpointing: a block of a model keeps only its input, and runs again in the backward
// pass. Gradients are bit for bit those of the plain block.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>

namespace dlcheck::reference {

using Block = std::function<torch::Tensor(torch::Tensor)>;

// Ways of being wrong on purpose.
enum class CheckpointDeviation : uint8_t {
  kNone,
  kAutocastLost,     // the block runs again without autocast
  kOtherRandomness,  // the block runs again with whatever random state there is
};

// block(x). The backward pass runs the block again with gradients, under the random state and the
// autocast state of this call, and leaves the random state as it finds it. The parameters inside
// the block receive their gradients, also if `x` needs none. Calls nest. Without gradients it is
// block(x).
//
// Only for loss.backward(): torch::autograd::grad would miss the parameters inside the block.
// Shapes: x and the result of any shape, one tensor each.
// Cost:   the forward pass of the block twice; its activations live only in the backward pass.
// Source: Chen et al. 2016.
torch::Tensor Checkpointed(const Block& block, const torch::Tensor& x,
                           CheckpointDeviation deviation = CheckpointDeviation::kNone);

}  // namespace dlcheck::reference
