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
#include <vector>

#include "reference/checkpoint/tensor_file.h"
#include "reference/optimization/optimizers.h"

namespace dlcheck::reference {

struct Observer {
  using Tensor = torch::Tensor;

  // Before training. What the run is to be, as the recipe has it, whatever a fault makes of it.
  std::function<void(const std::string& key, const std::string& value)> declared;
  // Many ranks train together; `replicated`: all of them hold all weights and gradients.
  std::function<void(int64_t rank, int64_t world, bool replicated)> ranks;
  std::function<void(int64_t seed)> seeded;
  std::function<void(torch::nn::Module&)> model;
  // Two names of what is to be one tensor.
  std::function<void(const std::string& one, const std::string& other)> tied;
  std::function<void(Optimizer&)> optimizer;
  std::function<void(const std::string& file, const NamedTensors& state)> loaded;

  // All state, before a step at which somebody wants it.
  std::function<bool()> wants_state;
  std::function<void(const NamedTensors& state)> state;

  // Each step, in this order; batch to loss once a micro-batch. Gradients are enabled.
  std::function<void(int64_t epoch)> epoch;  // only when a new one begins
  std::function<void(const Tensor& x, const Tensor& y)> batch;
  std::function<void(bool training)> mode;  // only when the mode changes
  std::function<void()> cleared;
  // After the forward pass and before the backward pass; logits (B, C), targets (B). `loss` is what
  // backward starts from, without a loss scale. `counted` targets are not to be ignored.
  std::function<void(const Tensor& loss, const Tensor& logits, const Tensor& targets)> loss;
  std::function<void(double scale)> scaled;    // the losses of this step, before the first of them
  std::function<void(double scale)> unscaled;  // the gradients
  // `kind` is norm, value or adaptive; `p` is which norm.
  std::function<void(const std::string& kind, double bound, double p)> clipped;
  std::function<void(const std::vector<double>& rates)> scheduled;  // by group, as they ought to be
  std::function<void()> before_step;
  std::function<void(bool taken)> after_step;
  // How far the averages are from the weights, and how far the last update took them: L2 norms.
  // Worked out only at a step at which somebody wants it.
  std::function<bool()> wants_averaged;
  std::function<void(double distance, double moved)> averaged;

  // Each evaluation: every batch of it, then the whole. Gradients are disabled.
  std::function<void()> evaluation_begins;
  std::function<void(const Tensor& logits, const Tensor& targets)> evaluation_outputs;
  std::function<void(double mean_loss, int64_t samples)> evaluated;

  // The file of the state, and what it was to hold.
  std::function<void(const std::string& file, const NamedTensors& state)> saved;
  std::function<void(const std::string& file, const std::string& cause)> rejected;

  // Of a trial: how far early outputs moved when later inputs did, and how far rounding moves them.
  std::function<void(double share, double rounding)> future_sensitivity;
};

// Calls `function` if somebody set it.
template <typename... Parameters, typename... Arguments>
void Tell(const std::function<void(Parameters...)>& function, Arguments&&... arguments) {
  if (function) function(std::forward<Arguments>(arguments)...);
}

}  // namespace dlcheck::reference
