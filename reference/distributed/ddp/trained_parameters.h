// The parameters that ranks have to share gradients of.
#pragma once

#include <torch/torch.h>

#include <string>
#include <utility>
#include <vector>

namespace dlcheck::reference {

// Each parameter that requires a gradient, once, under its first name.
std::vector<std::pair<std::string, torch::Tensor>> TrainedParameters(
    const torch::nn::Module& module);

}  // namespace dlcheck::reference
