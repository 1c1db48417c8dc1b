#include "reference/optimization/update_rules.h"

#include <optional>

namespace dlcheck::reference {
namespace {

std::optional<torch::Tensor> IfDefined(const torch::Tensor& tensor) {
  return tensor.defined() ? std::optional<torch::Tensor>(tensor) : std::nullopt;
}

// On the CPU the fused SGD of PyTorch 2.11 leaves most bf16 and fp16 weights as they are, and takes
// their momentum for fp32 (pytorch/pytorch#191763).
bool IsFusedSgdBroken(const torch::Tensor& weight) {
  return weight.is_cpu() &&
         (weight.scalar_type() == at::kBFloat16 || weight.scalar_type() == at::kHalf);
}

void UpdateSgdUnfused(const Optimizer::Options& options, const UpdateArguments& arguments) {
  if (arguments.found_inf.defined() && arguments.found_inf.item<double>() != 0) return;
  if (arguments.grad_scale.defined()) {
    at::_foreach_div_(arguments.gradients, arguments.grad_scale);
  }
  std::vector<torch::Tensor> changes = arguments.gradients;
  if (options.maximize) changes = at::_foreach_neg(changes);
  if (arguments.weight_decay != 0) {
    changes = at::_foreach_add(changes, arguments.weights, arguments.weight_decay);
  }
  if (options.momentum != 0) {
    at::_foreach_mul_(arguments.momentum, options.momentum);
    at::_foreach_add_(arguments.momentum, changes);
    changes = options.nesterov ? at::_foreach_add(changes, arguments.momentum, options.momentum)
                               : arguments.momentum;
  }
  at::_foreach_add_(arguments.weights, changes, -arguments.lr);
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
  if (options.rule == Optimizer::Rule::kSgd && IsFusedSgdBroken(arguments.weights.front())) {
    UpdateSgdUnfused(options, arguments);
  } else if (options.rule == Optimizer::Rule::kSgd) {
    UpdateSgd(options, arguments);
  } else {
    UpdateAdam(options, arguments);
  }
}

}  // namespace dlcheck::reference
