#include "reference/optimization/update_rules.h"

#include <optional>

#include "reference/optimization/rules.h"

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
    const std::vector<torch::Tensor> momentum = arguments.All(&ParameterState::momentum);
    at::_foreach_mul_(momentum, options.momentum);
    at::_foreach_add_(momentum, changes);
    changes = options.nesterov ? at::_foreach_add(changes, momentum, options.momentum) : momentum;
  }
  at::_foreach_add_(arguments.weights, changes, -arguments.lr);
}

void UpdateSgd(const Optimizer::Options& options, const UpdateArguments& arguments) {
  at::_fused_sgd_(arguments.weights, arguments.gradients, arguments.All(&ParameterState::momentum),
                  arguments.weight_decay, options.momentum, arguments.lr, /*dampening=*/0,
                  options.nesterov, options.maximize, /*is_first_step=*/false,
                  IfDefined(arguments.grad_scale), IfDefined(arguments.found_inf));
}

void UpdateAdam(const Optimizer::Options& options, Optimizer::Rule rule,
                const UpdateArguments& arguments) {
  const auto update = [&](const auto& fused) {
    fused(arguments.weights, arguments.gradients, arguments.All(&ParameterState::first),
          arguments.All(&ParameterState::second), arguments.All(&ParameterState::largest),
          arguments.All(&ParameterState::steps), arguments.lr, options.beta1, options.beta2,
          arguments.weight_decay, options.epsilon, options.amsgrad, options.maximize,
          IfDefined(arguments.grad_scale), IfDefined(arguments.found_inf));
  };
  if (rule == Optimizer::Rule::kAdam) {
    update([](auto&&... all) { at::_fused_adam_(all...); });
  } else {
    update([](auto&&... all) { at::_fused_adamw_(all...); });
  }
}

// What the kernels do with a gradient before any rule, and then the rule, for one after the other.
void UpdateEach(const Optimizer::Options& options, RuleFunction update,
                const UpdateArguments& arguments) {
  if (arguments.found_inf.defined() && arguments.found_inf.item<double>() != 0) return;
  if (arguments.grad_scale.defined()) {
    at::_foreach_div_(arguments.gradients, arguments.grad_scale);
  }
  for (size_t i = 0; i < arguments.weights.size(); ++i) {
    const torch::Tensor& gradient = arguments.gradients[i];
    const ParameterState& state = arguments.states[i];
    const double k = state.steps.defined() ? state.steps.item<double>() : 0;
    update(options, {arguments.weights[i], options.maximize ? -gradient : gradient, state,
                     arguments.lr, arguments.weight_decay, k});
  }
}

}  // namespace

std::vector<torch::Tensor> UpdateArguments::All(torch::Tensor ParameterState::*part) const {
  std::vector<torch::Tensor> all;
  for (const ParameterState& state : states) {
    if ((state.*part).defined()) all.push_back(state.*part);
  }
  return all;
}

void Update(const Optimizer::Options& options, Optimizer::Rule rule,
            const UpdateArguments& arguments) {
  if (const RuleFunction update = FunctionOf(rule)) {
    UpdateEach(options, update, arguments);
  } else if (rule != Optimizer::Rule::kSgd) {
    UpdateAdam(options, rule, arguments);
  } else if (IsFusedSgdBroken(arguments.weights.front())) {
    UpdateSgdUnfused(options, arguments);
  } else {
    UpdateSgd(options, arguments);
  }
}

}  // namespace dlcheck::reference
