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

struct GroupOptions {
  DecayRule decay = DecayRule::kNotVectors;
  double lr = 0;
  double weight_decay = 0;
  std::function<bool(const std::string& name)> is_optimized;
  std::function<double(const std::string& name)> rate_factor;  // of lr

  // Whether Muon trains matrices of hidden layers, and AdamW what is left, at this rate.
  bool has_muon = false;
  double lr_others = 0;
  torch::Tensor head = {};  // the weight of the last layer, which is none of them
};

// The parameters of `module` that require a gradient and whose name `is_optimized` accepts, in the
// module's order: groups `weights` and `vectors`, the second without decay; or one group `all`.
// Those with another rate or rule have groups of their own, after these.
// A tensor that stands under several names appears once, under the first. Embeddings decay.
std::vector<Optimizer::Group> ParameterGroups(const torch::nn::Module& module,
                                              const GroupOptions& options);

}  // namespace dlcheck::reference
