// One update of many tensors at once: what Optimizer::Step is made of.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "reference/optimization/optimizers.h"

namespace dlcheck::reference {

// One entry a parameter in each list, all of one type and on one device; the lists that a rule has
// no use for are empty. `weights`, the state and, with a `grad_scale`, `gradients` are written.
struct UpdateArguments {
  std::vector<torch::Tensor> weights, gradients, momentum, first, second, largest, steps;
  double lr = 0;
  double weight_decay = 0;
  torch::Tensor grad_scale, found_inf;  // undefined for none
};

// By the fused kernels; SGD of bf16 and fp16 weights on the CPU by foreach operations. The steps
// are already counted.
//
// REQUIRES: at least one weight.
void Update(const Optimizer::Options& options, const UpdateArguments& arguments);

}  // namespace dlcheck::reference
