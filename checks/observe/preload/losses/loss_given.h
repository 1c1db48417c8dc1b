// A call of a loss function, as the parts that look at losses are told of it.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string_view>

namespace dlcheck {

struct LossGiven {
  std::string_view function;            // in torch::nn::functional: "mse_loss"
  uint32_t thing = 0;                   // of the loss
  at::Tensor result, outputs, targets;  // class numbers that are ignored are -100
  int64_t ignored = -100;               // the class number that the program said to ignore

  bool TakesClasses() const { return function == "cross_entropy" || function == "nll_loss"; }
  bool TakesNumbers() const {
    return function == "mse_loss" || function == "l1_loss" || function == "smooth_l1_loss" ||
           function == "huber_loss";
  }
  // Whether each row of the outputs has one class for its target.
  bool HasOneClassEach() const {
    return TakesClasses() && outputs.dim() == 2 && targets.dim() == 1 &&
           !targets.is_floating_point() && outputs.size(0) == targets.size(0) && !targets.is_cuda();
  }
};

// Whether the numbers of a tensor can be read here, without waiting for a device.
inline bool IsAtHand(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cpu() && tensor.layout() == at::kStrided;
}

}  // namespace dlcheck
