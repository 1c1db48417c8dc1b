// One accumulation window: the micro-batches whose gradients one step takes.
#pragma once

#include <torch/torch.h>

#include <functional>

#include "reference/training/training.h"

namespace dlcheck::reference {

// Outputs of a batch, in the precision of the weights: logits (B, C), or (B, T, C) of tokens.
torch::Tensor Forward(Training& training, const torch::Tensor& x);

// Goes through the micro-batches of the next step that are not done yet, forward and backward, and
// counts each. The loss of a window is the sum of the losses of all its targets over their number.
// Stops early, between two micro-batches, when `stops` says so after one; true if all are done.
bool RunWindow(Training& training, const std::function<bool()>& stops);

}  // namespace dlcheck::reference
