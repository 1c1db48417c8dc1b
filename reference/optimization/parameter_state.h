// What an optimizer keeps of one parameter.
#pragma once

#include <torch/torch.h>

#include <utility>

namespace dlcheck::reference {

// Undefined where the rule has no use for it.
struct ParameterState {
  torch::Tensor momentum;
  torch::Tensor first, second;  // averages, or for Adagrad the sum, of gradients and their squares
  torch::Tensor largest;        // the largest `second` so far, of AMSGrad
  torch::Tensor product;        // one number: of NAdam's momenta, or the sum of squared rates
  torch::Tensor rows, columns;  // averages of the squares in the rows and the columns, of Adafactor
  torch::Tensor base, average;  // of schedule-free AdamW: z and x
  torch::Tensor steps;          // one number
  torch::Tensor master;         // the weight in fp32
};

// By the names that checkpoints have, in their order.
inline constexpr std::pair<const char*, torch::Tensor ParameterState::*> kStateParts[] = {
    {"momentum", &ParameterState::momentum}, {"first", &ParameterState::first},
    {"second", &ParameterState::second},     {"largest", &ParameterState::largest},
    {"product", &ParameterState::product},   {"rows", &ParameterState::rows},
    {"columns", &ParameterState::columns},   {"base", &ParameterState::base},
    {"average", &ParameterState::average},   {"steps", &ParameterState::steps},
    {"master", &ParameterState::master}};

}  // namespace dlcheck::reference
