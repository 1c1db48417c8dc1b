// One update of many tensors at once: what Optimizer::Step is made of.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "reference/optimization/optimizers.h"

namespace dlcheck::reference {

// One entry a parameter in each list, all of one type and on one device. `weights`, the states and,
// with a `grad_scale`, `gradients` are written.
struct UpdateArguments {
  std::vector<torch::Tensor> weights, gradients;
  std::vector<ParameterState> states;
  double lr = 0;
  double weight_decay = 0;
  torch::Tensor grad_scale, found_inf;  // undefined for none

  // One part of all states; empty if the rule has no use for it.
  std::vector<torch::Tensor> All(torch::Tensor ParameterState::*part) const;
};

// What a rule starts a parameter with, but for the master copy. `updated` is what it will update.
ParameterState InitialState(const Optimizer::Options& options, Optimizer::Rule rule,
                            const torch::Tensor& updated);

// SGD, Adam and AdamW by the fused kernels, but SGD of bf16 and fp16 weights on the CPU by foreach
// operations; the others by rules.h. The steps are already counted.
//
// REQUIRES: at least one weight.
// Cost: of rules without a fused kernel one copy from the device, and some rules one a parameter.
void Update(const Optimizer::Options& options, Optimizer::Rule rule,
            const UpdateArguments& arguments);

}  // namespace dlcheck::reference
