#include "reference/optimization/deviating_rules.h"

#include <cmath>
#include <utility>

#include "reference/optimization/rules.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

// What the kernels make of a gradient before any rule.
Tensor PreparedGradient(const Optimizer::Options& options, const UpdateArguments& arguments,
                        size_t i) {
  const Tensor& gradient = arguments.gradients[i];
  if (arguments.grad_scale.defined()) gradient.div_(arguments.grad_scale);
  return options.maximize ? -gradient : gradient;
}

// Only for kRateInMomentum.
void UpdateDeviatingSgd(const Optimizer::Options& options, const UpdateArguments& arguments) {
  for (size_t i = 0; i < arguments.weights.size(); ++i) {
    const Tensor& weight = arguments.weights[i];
    const Tensor change =
        arguments.lr * (PreparedGradient(options, arguments, i) + arguments.weight_decay * weight);
    if (options.momentum == 0) {
      weight.sub_(change);
      continue;
    }
    const Tensor& momentum = arguments.states[i].momentum;
    momentum.mul_(options.momentum).add_(change);
    weight.sub_(options.nesterov ? change + options.momentum * momentum : momentum);
  }
}

void UpdateDeviatingAdam(const Optimizer::Options& options, const UpdateArguments& arguments) {
  const OptimizerDeviation deviation = options.deviation;
  const bool is_corrected = deviation != OptimizerDeviation::kNoBiasCorrection;
  for (size_t i = 0; i < arguments.weights.size(); ++i) {
    const Tensor& weight = arguments.weights[i];
    Tensor gradient = PreparedGradient(options, arguments, i);
    if (options.rule == Optimizer::Rule::kAdamW) {
      weight.mul_(1 - arguments.lr * arguments.weight_decay);
    } else {
      gradient = gradient + arguments.weight_decay * weight;
    }
    arguments.states[i].first.lerp_(gradient, 1 - options.beta1);
    arguments.states[i].second.mul_(options.beta2).addcmul_(gradient, gradient, 1 - options.beta2);
    Tensor second = arguments.states[i].second;
    if (options.amsgrad) {
      second =
          arguments.states[i].largest.copy_(torch::maximum(arguments.states[i].largest, second));
    }
    const double ahead = deviation == OptimizerDeviation::kStepsAhead ? 1 : 0;
    const double k = arguments.states[i].steps.item<double>() + ahead;
    const double correction1 = is_corrected ? 1 - std::pow(options.beta1, k) : 1;
    const double correction2 = is_corrected ? 1 - std::pow(options.beta2, k) : 1;
    const Tensor divisor = deviation == OptimizerDeviation::kEpsilonInsideRoot
                               ? (second / correction2 + options.epsilon).sqrt()
                               : (second / correction2).sqrt() + options.epsilon;
    weight.addcdiv_(arguments.states[i].first, divisor, -arguments.lr / correction1);
  }
}

}  // namespace

Optimizer::Options DeviatingOptions(Optimizer::Options options) {
  switch (options.deviation) {
    case OptimizerDeviation::kSwappedBetas:
      std::swap(options.beta1, options.beta2);
      break;
    case OptimizerDeviation::kCoupledDecay:
      if (options.rule == Optimizer::Rule::kAdamW) options.rule = Optimizer::Rule::kAdam;
      break;
    case OptimizerDeviation::kNesterovIgnored:
      options.nesterov = false;
      break;
    default:
      break;
  }
  return options;
}

bool HasDeviatingRule(OptimizerDeviation deviation, Optimizer::Rule rule) {
  if (FunctionOf(rule) != nullptr) return false;
  return deviation == OptimizerDeviation::kEpsilonInsideRoot ||
         deviation == OptimizerDeviation::kNoBiasCorrection ||
         deviation == OptimizerDeviation::kStepsAhead ||
         deviation == OptimizerDeviation::kRateInMomentum;
}

void UpdateDeviating(const Optimizer::Options& options, const UpdateArguments& arguments) {
  if (arguments.found_inf.defined() && arguments.found_inf.item<double>() != 0) return;
  if (options.rule == Optimizer::Rule::kSgd) {
    UpdateDeviatingSgd(options, arguments);
  } else {
    UpdateDeviatingAdam(options, arguments);
  }
}

}  // namespace dlcheck::reference
