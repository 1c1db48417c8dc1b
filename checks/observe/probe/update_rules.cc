#include "checks/observe/probe/update_rules.h"

#include <cmath>
#include <string_view>

namespace dlcheck {
namespace {

at::Tensor WithDecay(const BeforeStep& before) {
  if (before.weight_decay == 0) return before.gradient;
  return before.gradient + before.weight_decay * before.weight;
}

at::Tensor Average(const at::Tensor& average, const at::Tensor& value, double kept) {
  return kept * average + (1 - kept) * value;
}

at::Tensor SgdChange(const Probe::Rule& rule, const BeforeStep& before) {
  const at::Tensor gradient = WithDecay(before);
  if (rule.momentum == 0) return -before.rate * gradient;
  if (!before.momentum.defined()) return {};
  const at::Tensor momentum = rule.momentum * before.momentum + gradient;
  return -before.rate * (rule.nesterov ? gradient + rule.momentum * momentum : momentum);
}

at::Tensor AdamChange(const Probe::Rule& rule, const BeforeStep& before) {
  if (!before.first.defined() || !before.second.defined()) return {};
  const bool decays_apart = rule.name == "adamw";
  const at::Tensor gradient = decays_apart ? before.gradient : WithDecay(before);
  const double k = before.steps + 1;
  const at::Tensor first = Average(before.first, gradient, rule.beta1);
  const at::Tensor second = Average(before.second, gradient.square(), rule.beta2);
  const at::Tensor root = (second / (1 - std::pow(rule.beta2, k))).sqrt() + rule.epsilon;
  const at::Tensor change = -before.rate / (1 - std::pow(rule.beta1, k)) * first / root;
  return decays_apart ? change - before.rate * before.weight_decay * before.weight : change;
}

// A variance that is so small a share of the mean square is a difference of two numbers that are
// nearly equal: the rounding of float32 would show in it.
constexpr double kSmallestVariance = 1e-3;

at::Tensor RmspropChange(const Probe::Rule& rule, const BeforeStep& before) {
  if (!before.second.defined() || (rule.centered && !before.first.defined())) return {};
  if (rule.momentum > 0 && !before.momentum.defined()) return {};
  const at::Tensor gradient = WithDecay(before);
  at::Tensor second = Average(before.second, gradient.square(), rule.alpha);
  if (rule.centered) {
    const at::Tensor variance = second - Average(before.first, gradient, rule.alpha).square();
    if ((variance < kSmallestVariance * second).any().item<bool>()) return {};
    second = variance;
  }
  const at::Tensor quotient = gradient / (second.sqrt() + rule.epsilon);
  if (rule.momentum == 0) return -before.rate * quotient;
  return -before.rate * (rule.momentum * before.momentum + quotient);
}

at::Tensor AdagradChange(const Probe::Rule& rule, const BeforeStep& before) {
  if (!before.second.defined()) return {};
  const at::Tensor gradient = WithDecay(before);
  const at::Tensor root = (before.second + gradient.square()).sqrt() + rule.epsilon;
  return -before.rate / (1 + before.steps * rule.lr_decay) * gradient / root;
}

at::Tensor NadamChange(const Probe::Rule& rule, const BeforeStep& before) {
  if (!before.first.defined() || !before.second.defined() || !before.product.defined()) return {};
  const at::Tensor gradient = WithDecay(before);
  const double k = before.steps + 1;
  const auto momentum_at = [&](double step) {
    return rule.beta1 * (1 - 0.5 * std::pow(0.96, step * rule.momentum_decay));
  };
  const double now = momentum_at(k), next = momentum_at(k + 1);
  const double product = before.product.item<double>() * now;
  const at::Tensor first = Average(before.first, gradient, rule.beta1);
  const at::Tensor second = Average(before.second, gradient.square(), rule.beta2);
  const at::Tensor root = (second / (1 - std::pow(rule.beta2, k))).sqrt() + rule.epsilon;
  const at::Tensor step =
      (1 - now) / (1 - product) * gradient + next / (1 - product * next) * first;
  return -before.rate * step / root;
}

}  // namespace

at::Tensor ChangeOf(const Probe::Rule& rule, const BeforeStep& before) {
  const std::string_view name = rule.name;
  if (name == "sgd") return SgdChange(rule, before);
  if (name == "adam" || name == "adamw") return AdamChange(rule, before);
  if (name == "rmsprop") return RmspropChange(rule, before);
  if (name == "adagrad") return AdagradChange(rule, before);
  if (name == "nadam") return NadamChange(rule, before);
  return {};
}

}  // namespace dlcheck
