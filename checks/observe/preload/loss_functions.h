// The loss functions of LibTorch, by the operator that each of them is.
#pragma once

#include <cstddef>
#include <string_view>

namespace dlcheck {

// Kind, name in torch::nn::functional, and which input says how the losses of all targets become
// one.
struct LossFunction {
  const char* kind;
  const char* name;
  size_t reduction;

  // Whether swapped arguments give the same loss.
  bool IsDistance() const {
    const std::string_view word = kind;
    return word == "mse" || word == "l1" || word == "smooth_l1" || word == "huber";
  }
};

// Of "aten::mse_loss" and so on; null for any other operation.
const LossFunction* FindLossFunction(std::string_view operation);

}  // namespace dlcheck
