// Three steps of each rule against the formulas in optimizers.h, worked out here in double
// precision.
#include "reference/optimization/optimizers.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dlcheck::reference {
namespace {

constexpr double kGradients[] = {1.0, -0.5, 0.25};
// A few roundings of float32 around a weight of 1.
constexpr double kTolerance = 1e-6;

struct One {
  torch::Tensor weight = torch::ones({1}).requires_grad_();
  Optimizer optimizer;

  One(const Optimizer::Options& options, double lr, double weight_decay)
      : optimizer(options, {{"all", lr, weight_decay, {{"weight", weight}}}}) {}

  double StepWith(double gradient) {
    weight.mutable_grad() = torch::full({1}, gradient);
    optimizer.Step();
    return weight.item<double>();
  }
};

TEST(Optimizer, FollowsSgdWithMomentum) {
  One one({.rule = Optimizer::Rule::kSgd, .momentum = 0.9}, 0.1, 0.01);
  double weight = 1, buffer = 0;
  for (const double gradient : kGradients) {
    buffer = 0.9 * buffer + gradient + 0.01 * weight;
    weight -= 0.1 * buffer;
    EXPECT_NEAR(one.StepWith(gradient), weight, kTolerance);
  }
}

TEST(Optimizer, FollowsSgdWithoutMomentum) {
  One one({.rule = Optimizer::Rule::kSgd}, 0.5, 0);
  EXPECT_EQ(one.StepWith(1), 0.5);
  EXPECT_EQ(one.StepWith(1), 0);
  EXPECT_EQ(one.StepWith(-1), 0.5);
}

TEST(Optimizer, FollowsAdam) {
  One one({.rule = Optimizer::Rule::kAdam}, 0.1, 0.01);
  double weight = 1, first = 0, second = 0;
  for (int k = 1; k <= 3; ++k) {
    const double gradient = kGradients[k - 1] + 0.01 * weight;
    first = 0.9 * first + 0.1 * gradient;
    second = 0.999 * second + 0.001 * gradient * gradient;
    weight -= 0.1 / (1 - std::pow(0.9, k)) * first /
              (std::sqrt(second / (1 - std::pow(0.999, k))) + 1e-8);
    EXPECT_NEAR(one.StepWith(kGradients[k - 1]), weight, kTolerance);
  }
}

TEST(Optimizer, FollowsAdamW) {
  One one({.rule = Optimizer::Rule::kAdamW}, 0.1, 0.01);
  double weight = 1, first = 0, second = 0;
  for (int k = 1; k <= 3; ++k) {
    const double gradient = kGradients[k - 1];
    weight *= 1 - 0.1 * 0.01;
    first = 0.9 * first + 0.1 * gradient;
    second = 0.999 * second + 0.001 * gradient * gradient;
    weight -= 0.1 / (1 - std::pow(0.9, k)) * first /
              (std::sqrt(second / (1 - std::pow(0.999, k))) + 1e-8);
    EXPECT_NEAR(one.StepWith(gradient), weight, kTolerance);
  }
}

TEST(Optimizer, LeavesParametersWithoutAGradientAlone) {
  One one({.rule = Optimizer::Rule::kAdamW}, 0.1, 0.01);
  one.StepWith(1);
  const double weight = one.weight.item<double>();
  one.optimizer.ZeroGrad();
  EXPECT_FALSE(one.weight.grad().defined());
  one.optimizer.Step();
  EXPECT_EQ(one.weight.item<double>(), weight);
}

}  // namespace
}  // namespace dlcheck::reference
