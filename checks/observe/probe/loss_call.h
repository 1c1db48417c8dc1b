// A loss function that the program called, for those that do not report it by Probe::Loss.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <string>

namespace dlcheck {

// A call of a loss function that returned: what it is called and what it was given.
struct LossCall {
  std::string function;                 // "nll_loss"
  std::string kind;                     // "nll"
  std::string reduction;                // "mean"
  std::string broadcast;                // "64x1 and 64"; empty if its inputs do not broadcast
  at::Tensor result, outputs, targets;  // class numbers that are ignored are -100
  int64_t ignored = -100;               // the class number that the program said to ignore
  at::Tensor weights;                   // of classes; undefined if there are none
};

// What is known of the loss function that the next backward starts from.
struct ReturnedLoss {
  uint32_t thing = 0;  // 0: none
  std::weak_ptr<torch::autograd::Node> node;
  at::Tensor mean;      // one element in float64; undefined if not known
  int64_t targets = 0;  // of the mean
  double samples = 0;
};

}  // namespace dlcheck
