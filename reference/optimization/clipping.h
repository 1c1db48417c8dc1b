// Gradient clipping, in place, after gradients are unscaled and before the step.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <vector>

namespace dlcheck::reference {

// Ways of being wrong on purpose.
enum class ClipDeviation : uint8_t {
  kNone,
  kNoEpsilon,       // divides by the norm alone
  kAlwaysRescales,  // to the bound, also from below it
  kPerTensorNorm,   // each tensor by its own norm
  kNoFloor,         // adaptive: a zero parameter's gradient becomes 0 for ever
};

// Multiplies all `gradients` with min(1, bound / (norm + 1e-6)) and returns the norm before that:
// the p-norm of the p-norms of each tensor, so of all of them as one vector. `p` is 0, 1, 2,
// infinity or another positive number; p = 0 counts what is not zero.
//
// `combined` makes of the norm of these gradients that of all, where ranks have parts of them.
//
// Shapes: gradients of any shape, on one device; the norm is a scalar there, 0 for no gradients.
// Cost:   two passes over the gradients, no copy from the device.
// Source: Pascanu et al. 2013, section 3.2; the constant is that of clip_grad_norm_.
torch::Tensor ClipByNorm(const std::vector<torch::Tensor>& gradients, double bound, double p = 2,
                         ClipDeviation deviation = ClipDeviation::kNone,
                         const std::function<double(double norm)>& combined = nullptr);

// Limits each number to -bound .. bound.
void ClipByValue(const std::vector<torch::Tensor>& gradients, double bound);

// Multiplies each unit of a gradient with min(1, clip max(|w|, floor) / |g|), where w is the same
// unit of the weight: a slice along the first dimension, or the whole of a vector or scalar.
// Without the floor a unit that is zero would never move.
//
// Shapes: `weights` and `gradients` pairwise alike.
// Source: Brock et al. 2021, section 4.1.
void ClipAdaptive(const std::vector<torch::Tensor>& weights,
                  const std::vector<torch::Tensor>& gradients, double clip, double floor = 1e-3,
                  ClipDeviation deviation = ClipDeviation::kNone);

}  // namespace dlcheck::reference
