// What the loop tells whoever watches it, in the order in which it happens. Each function is
// optional. The trainer knows no probe: main.cc fills this in.
//
// Letters: B batch, C classes.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "reference/optimization/optimizers.h"

namespace dlcheck::reference {

struct Observer {
  using Tensor = torch::Tensor;

  // Before training.
  std::function<void(int64_t seed)> seeded;
  std::function<void(torch::nn::Module&)> model;
  std::function<void(Optimizer&)> optimizer;

  // Each step, in this order. Gradients are enabled.
  std::function<void(const Tensor& x, const Tensor& y)> batch;
  std::function<void(bool training)> mode;  // only when the mode changes
  std::function<void()> cleared;
  // After the forward pass and before the backward pass; logits (B, C), targets (B).
  std::function<void(const Tensor& loss, const Tensor& logits, const Tensor& targets)> loss;
  std::function<void()> before_step;
  std::function<void()> after_step;

  // Each evaluation: every batch of it, then the whole. Gradients are disabled.
  std::function<void(const Tensor& logits, const Tensor& targets)> evaluation_outputs;
  std::function<void(double mean_loss, int64_t samples)> evaluated;

  std::function<void(const std::string& path)> saved;
  std::function<void(const std::string& file, const std::string& cause)> rejected;
};

// Calls `function` if somebody set it.
template <typename... Parameters, typename... Arguments>
void Tell(const std::function<void(Parameters...)>& function, Arguments&&... arguments) {
  if (function) function(std::forward<Arguments>(arguments)...);
}

}  // namespace dlcheck::reference
