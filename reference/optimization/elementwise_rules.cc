#include <cmath>

#include "reference/optimization/rules.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

Tensor WithDecay(const ParameterUpdate& update) {
  if (update.weight_decay == 0) return update.gradient;
  return update.gradient.add(update.weight, update.weight_decay);
}

void DecayApart(const ParameterUpdate& update) {
  if (update.weight_decay != 0) update.weight.mul_(Number(1 - update.lr * update.weight_decay));
}

void AverageSquares(const Tensor& average, const Tensor& gradient, double kept) {
  average.mul_(Number(kept)).addcmul_(gradient, gradient, 1 - kept);
}

// sqrt(v) + epsilon; `deviation` may have it inside.
Tensor RootOf(const Optimizer::Options& options, const Tensor& second) {
  if (options.deviation == OptimizerDeviation::kEpsilonInsideRoot) {
    return second.add(options.epsilon).sqrt_();
  }
  return second.sqrt().add_(options.epsilon);
}

}  // namespace

void UpdateRmsprop(const Optimizer::Options& options, const ParameterUpdate& update) {
  const Tensor gradient = WithDecay(update);
  const ParameterState& state = update.state;
  AverageSquares(state.second, gradient, options.alpha);
  Tensor second = state.second;
  if (options.centered) {
    state.first.lerp_(gradient, 1 - options.alpha);
    if (!IsCoreLeftOut(options)) second = second.addcmul(state.first, state.first, -1);
  }
  const Tensor root = RootOf(options, second);
  if (options.momentum > 0) {
    state.momentum.mul_(Number(options.momentum)).addcdiv_(gradient, root);
    update.weight.add_(state.momentum, -update.lr);
  } else {
    update.weight.addcdiv_(gradient, root, -update.lr);
  }
}

void UpdateAdagrad(const Optimizer::Options& options, const ParameterUpdate& update) {
  const Tensor gradient = WithDecay(update);
  const double lr = update.lr / (1 + (update.k - 1) * options.lr_decay);
  if (IsCoreLeftOut(options))
    update.state.second.mul_(Number(options.alpha));  // an average, and no sum
  update.state.second.addcmul_(gradient, gradient, 1);
  update.weight.addcdiv_(gradient, RootOf(options, update.state.second), -lr);
}

void UpdateNadam(const Optimizer::Options& options, const ParameterUpdate& update) {
  const ParameterState& state = update.state;
  const Tensor gradient = WithDecay(update);
  const auto momentum_at = [&](double k) {
    return options.beta1 * (1.0 - 0.5 * std::pow(0.96, k * options.momentum_decay));
  };
  const double now = momentum_at(update.k);
  const double next = IsCoreLeftOut(options) ? now : momentum_at(update.k + 1);
  state.product.mul_(now);
  state.first.lerp_(gradient, 1 - options.beta1);
  AverageSquares(state.second, gradient, options.beta2);
  const Tensor root = RootOf(options, state.second.div(1 - std::pow(options.beta2, update.k)));
  const double product = state.product.item<double>();
  update.weight.addcdiv_(gradient, root, -update.lr * (1.0 - now) / (1.0 - product));
  update.weight.addcdiv_(state.first, root, (-update.lr * next) / (1.0 - product * next));
}

void UpdateLion(const Optimizer::Options& options, const ParameterUpdate& update) {
  const Tensor& momentum = update.state.momentum;
  DecayApart(update);
  const Tensor change = momentum.lerp(update.gradient, 1 - options.beta1);
  update.weight.add_(IsCoreLeftOut(options) ? change : change.sign(), -update.lr);
  momentum.lerp_(update.gradient, 1 - options.beta2);
}

void UpdateScheduleFree(const Optimizer::Options& options, const ParameterUpdate& update) {
  const ParameterState& state = update.state;
  AverageSquares(state.second, update.gradient, options.beta2);
  const double lr = update.lr * std::sqrt(1 - std::pow(options.beta2, update.k));
  if (update.weight_decay != 0) state.base.add_(update.weight, -lr * update.weight_decay);
  state.base.addcdiv_(update.gradient, RootOf(options, state.second), -lr);
  state.product.add_(lr * lr);
  const double share = lr * lr / state.product.item<double>();
  state.average.lerp_(state.base, IsCoreLeftOut(options) ? 1 - options.beta1 : share);
  update.weight.copy_(state.base.lerp(state.average, options.beta1));
}

}  // namespace dlcheck::reference
