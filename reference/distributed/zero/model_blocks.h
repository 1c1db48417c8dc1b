// The blocks of a model: the layers whose parameters are needed at one time, one after the other.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace dlcheck::reference {

// The block of each of the `parameters` of `module`, numbered from 0 in their order. A block is an
// element of an outermost list (Sequential, ModuleList, ModuleDict); beside lists, a child without
// a list inside it; and what a module with blocks inside it holds by itself. A parameter that
// stands under two names belongs where it stands first.
//
// REQUIRES: `parameters` are of the module, in its order (TrainedParameters).
std::vector<int64_t> BlocksOf(const torch::nn::Module& module,
                              const std::vector<std::pair<std::string, torch::Tensor>>& parameters);

}  // namespace dlcheck::reference
