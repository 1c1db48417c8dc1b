// The tensors among the arguments of an operation. They are gone once it has returned.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstddef>

namespace dlcheck {

// Undefined where the argument at this place is no tensor, or is not given.
inline at::Tensor TensorGiven(const at::RecordFunction& function, size_t place) {
  const auto inputs = function.inputs();
  return place < inputs.size() && inputs[place].isTensor() ? inputs[place].toTensor()
                                                           : at::Tensor();
}

// The only result, if it is one tensor; else undefined.
inline at::Tensor OnlyResult(const at::RecordFunction& function) {
  const auto& outputs = function.outputs();
  return outputs.size() == 1 && outputs[0].isTensor() ? outputs[0].toTensor() : at::Tensor();
}

}  // namespace dlcheck
