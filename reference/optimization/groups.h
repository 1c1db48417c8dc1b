// Which parameters are optimized together, and which of them decay.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <string>
#include <vector>

#include "reference/optimization/optimizers.h"

namespace dlcheck::reference {

enum class DecayRule : uint8_t {
  kNotVectors,  // norms and biases do not decay: whatever has fewer than two dimensions
  kAll,
};

// The parameters of `module` that require a gradient and whose name `is_optimized` accepts, in the
// module's order: groups `weights` and `vectors`, the second without decay; or one group `all`.
// A tensor that stands under several names appears once, under the first. Embeddings decay.
std::vector<Optimizer::Group> ParameterGroups(
    const torch::nn::Module& module, DecayRule rule, double lr, double weight_decay,
    const std::function<bool(const std::string& name)>& is_optimized);

}  // namespace dlcheck::reference
