#include "checks/observe/probe/update_rules.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

namespace dlcheck {
namespace {

using torch::Tensor;

Tensor Wide(const Tensor& tensor) {
  return tensor.defined() ? tensor.detach().to(torch::kDouble, false, true) : tensor;
}

// What LibTorch keeps of the one weight of an optimizer, as the rules name it.
void TakeState(torch::optim::Optimizer& optimizer, const Tensor& weight, BeforeStep& before) {
  const auto found = optimizer.state().find(weight.unsafeGetTensorImpl());
  if (found == optimizer.state().end()) return;
  torch::optim::OptimizerParamState* const state = found->second.get();
  if (const auto* sgd = dynamic_cast<torch::optim::SGDParamState*>(state)) {
    before.momentum = Wide(sgd->momentum_buffer());
  } else if (const auto* adam = dynamic_cast<torch::optim::AdamParamState*>(state)) {
    before.first = Wide(adam->exp_avg());
    before.second = Wide(adam->exp_avg_sq());
    before.steps = static_cast<double>(adam->step());
  } else if (const auto* adam_w = dynamic_cast<torch::optim::AdamWParamState*>(state)) {
    before.first = Wide(adam_w->exp_avg());
    before.second = Wide(adam_w->exp_avg_sq());
    before.steps = static_cast<double>(adam_w->step());
  } else if (const auto* rms = dynamic_cast<torch::optim::RMSpropParamState*>(state)) {
    before.first = Wide(rms->grad_avg());
    before.second = Wide(rms->square_avg());
    before.momentum = Wide(rms->momentum_buffer());
    before.steps = static_cast<double>(rms->step());
  } else if (const auto* adagrad = dynamic_cast<torch::optim::AdagradParamState*>(state)) {
    before.second = Wide(adagrad->sum());
    before.steps = static_cast<double>(adagrad->step());
  }
}

// Takes some steps in float64, and gives the largest difference of the last three from the rule.
double ErrorOf(const Probe::Rule& rule, double rate, double weight_decay, const Tensor& weight,
               torch::optim::Optimizer& optimizer) {
  double error = 0;
  for (int step = 0; step < 6; ++step) {
    weight.mutable_grad() = torch::randn({8}, torch::kDouble);
    BeforeStep before;
    before.rate = rate;
    before.weight_decay = weight_decay;
    before.weight = Wide(weight);
    before.gradient = Wide(weight.grad());
    TakeState(optimizer, weight, before);
    optimizer.step();
    if (step < 3) continue;
    const Tensor change = ChangeOf(rule, before);
    if (!change.defined()) return -1;
    error = std::max(error, (weight.detach() - before.weight - change).abs().max().item<double>());
  }
  return error;
}

Tensor Weight() {
  torch::manual_seed(1);
  return torch::randn({8}, torch::kDouble).requires_grad_();
}

constexpr double kRounding = 1e-12;

TEST(UpdateRules, OfSgdAreThoseOfLibTorch) {
  for (const double momentum : {0.0, 0.9}) {
    for (const bool nesterov : {false, true}) {
      if (nesterov && momentum == 0) continue;
      const Tensor weight = Weight();
      torch::optim::SGD sgd(
          {weight},
          torch::optim::SGDOptions(0.1).momentum(momentum).nesterov(nesterov).weight_decay(0.01));
      Probe::Rule rule;
      rule.name = "sgd";
      rule.momentum = momentum;
      rule.nesterov = nesterov;
      EXPECT_NEAR(ErrorOf(rule, 0.1, 0.01, weight, sgd), 0, kRounding) << momentum;
    }
  }
}

TEST(UpdateRules, OfAdamAndAdamWAreThoseOfLibTorch) {
  Probe::Rule rule;
  rule.name = "adam";
  const Tensor weight = Weight(), other = Weight();
  torch::optim::Adam adam({weight}, torch::optim::AdamOptions(0.1).weight_decay(0.01));
  EXPECT_NEAR(ErrorOf(rule, 0.1, 0.01, weight, adam), 0, kRounding);
  rule.name = "adamw";
  torch::optim::AdamW adam_w({other}, torch::optim::AdamWOptions(0.1).weight_decay(0.01));
  EXPECT_NEAR(ErrorOf(rule, 0.1, 0.01, other, adam_w), 0, kRounding);
}

TEST(UpdateRules, OfRmspropAreThoseOfLibTorch) {
  for (const double momentum : {0.0, 0.9}) {
    for (const bool centered : {false, true}) {
      const Tensor weight = Weight();
      torch::optim::RMSprop rms(
          {weight},
          torch::optim::RMSpropOptions(0.01).momentum(momentum).centered(centered).weight_decay(
              0.01));
      Probe::Rule rule;
      rule.name = "rmsprop";
      rule.momentum = momentum;
      rule.centered = centered;
      EXPECT_NEAR(ErrorOf(rule, 0.01, 0.01, weight, rms), 0, kRounding) << momentum << centered;
    }
  }
}

TEST(UpdateRules, OfAdagradAreThoseOfLibTorch) {
  const Tensor weight = Weight();
  torch::optim::Adagrad adagrad({weight},
                                torch::optim::AdagradOptions(0.1).lr_decay(0.01).eps(1e-8));
  Probe::Rule rule;
  rule.name = "adagrad";
  rule.lr_decay = 0.01;
  EXPECT_NEAR(ErrorOf(rule, 0.1, 0, weight, adagrad), 0, kRounding);
}

TEST(UpdateRules, NeedTheStateThatTheyReadAndAKnownName) {
  Probe::Rule rule;
  BeforeStep before;
  before.weight = before.gradient = torch::ones({2}, torch::kDouble);
  rule.momentum = 0.9;
  for (const char* name : {"sgd", "adam", "adamw", "rmsprop", "adagrad", "nadam", "other"}) {
    rule.name = name;
    EXPECT_FALSE(ChangeOf(rule, before).defined()) << name;
  }
}

}  // namespace
}  // namespace dlcheck
