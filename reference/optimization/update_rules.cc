#include "reference/optimization/update_rules.h"

#include <optional>

namespace dlcheck::reference {
namespace {

std::optional<torch::Tensor> IfDefined(const torch::Tensor& tensor) {
  return tensor.defined() ? std::optional<torch::Tensor>(tensor) : std::nullopt;
}

void UpdateSgd(const Optimizer::Options& options, const UpdateArguments& arguments) {
  at::_fused_sgd_(arguments.weights, arguments.gradients, arguments.momentum,
                  arguments.weight_decay, options.momentum, arguments.lr, /*dampening=*/0,
                  options.nesterov, options.maximize, /*is_first_step=*/false,
                  IfDefined(arguments.grad_scale), IfDefined(arguments.found_inf));
}

void UpdateAdam(const Optimizer::Options& options, const UpdateArguments& arguments) {
  const auto update = [&](const auto& fused) {
    fused(arguments.weights, arguments.gradients, arguments.first, arguments.second,
          arguments.largest, arguments.steps, arguments.lr, options.beta1, options.beta2,
          arguments.weight_decay, options.epsilon, options.amsgrad, options.maximize,
          IfDefined(arguments.grad_scale), IfDefined(arguments.found_inf));
  };
  if (options.rule == Optimizer::Rule::kAdam) {
    update([](auto&&... all) { at::_fused_adam_(all...); });
  } else {
    update([](auto&&... all) { at::_fused_adamw_(all...); });
  }
}

}  // namespace

void Update(const Optimizer::Options& options, const UpdateArguments& arguments) {
  if (options.rule == Optimizer::Rule::kSgd) {
    UpdateSgd(options, arguments);
  } else {
    UpdateAdam(options, arguments);
  }
}

}  // namespace dlcheck::reference
