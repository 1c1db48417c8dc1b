// What no comparison of numbers sees of schedules, averages, scaler and checkpoints: names, what is
// refused, and what passes through.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/optimization/averaging.h"
#include "reference/optimization/schedules.h"
#include "reference/precision/activation_checkpoint.h"
#include "reference/precision/loss_scaler.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

TEST(Schedule, KnowsEachOfItsNames) {
  for (const std::string& name : ShapeNames()) EXPECT_TRUE(ShapeFromName(name)) << name;
  for (const std::string& name : WarmupNames()) EXPECT_TRUE(WarmupFromName(name)) << name;
  for (const std::string& name : CooldownFormNames()) {
    EXPECT_TRUE(CooldownFormFromName(name)) << name;
  }
  EXPECT_EQ(ShapeFromName("one_cycle"), Schedule::Shape::kOneCycle);
  EXPECT_EQ(WarmupFromName("from_factor"), Schedule::Warmup::kFromFactor);
  EXPECT_EQ(CooldownFormFromName("one_minus_sqrt"), Schedule::CooldownForm::kOneMinusSqrt);
  EXPECT_FALSE(ShapeFromName("cosinus"));
}

TEST(Schedule, RefusesLengthsAndFractionsThatMakeNoSense) {
  EXPECT_NO_THROW(CheckSchedule({}));
  EXPECT_THROW(CheckSchedule({.shape = Schedule::Shape::kCosine}), UsageError);
  EXPECT_THROW(CheckSchedule({.step_size = 0}), UsageError);
  EXPECT_THROW(CheckSchedule({.floor = 1.5}), UsageError);
  EXPECT_THROW(CheckSchedule({.warmup = Schedule::Warmup::kFromFirst}), UsageError);
  EXPECT_THROW(
      CheckSchedule({.shape = Schedule::Shape::kCooldown, .horizon = 9, .cooldown_fraction = -0.1}),
      UsageError);
}

TEST(Schedule, OfOneCycleNeedsNoRiseAndNoFall) {
  Schedule schedule{.shape = Schedule::Shape::kOneCycle, .horizon = 4, .peak_fraction = 0};
  EXPECT_EQ(RateFactor(schedule, 0), 1);
  schedule.peak_fraction = 1;
  EXPECT_EQ(RateFactor(schedule, 3), 1);
}

TEST(Average, RefusesADecayThatIsNoFraction) {
  const torch::nn::Linear model(2, 2);
  EXPECT_THROW(Average(*model, {.decay = 1.5}), UsageError);
}

TEST(Average, TakesATensorOfTwoNamesOnce) {
  struct Tied : torch::nn::Module {
    Tied() : weight(register_parameter("one", torch::ones(3))) {
      register_parameter("other", weight);
    }
    torch::Tensor weight;
  };
  const auto tied = std::make_shared<Tied>();
  Average average(*tied, {.decay = 0.5});
  average.Update();
  const torch::NoGradGuard no_grad;
  tied->weight.fill_(3);
  average.Update();
  average.Exchange();
  EXPECT_EQ(tied->weight[0].item<float>(), 2);
  average.Exchange();
  EXPECT_EQ(tied->weight[0].item<float>(), 3);
  average.VisitState([](const std::string& name, torch::Tensor& tensor) {
    if (name != "updates") {
      EXPECT_EQ(tensor[0].item<float>(), 2) << name;
    }
  });
}

// A weight and plain SGD over it, with a gradient.
struct One {
  explicit One(at::ScalarType type = at::kFloat)
      : weight(torch::ones({2}, type).requires_grad_()),
        optimizer({}, {{"all", 0.5, 0, {{"w", weight}}}}) {
    weight.mutable_grad() = torch::full({2}, 4, type);
  }
  torch::Tensor weight;
  Optimizer optimizer;
};

TEST(LossScaler, ThatIsOffPassesEverythingThrough) {
  LossScaler scaler({.enabled = false});
  One one;
  const torch::Tensor loss = torch::ones({});
  EXPECT_TRUE(scaler.Scale(loss).is_same(loss));
  one.weight.mutable_grad().fill_(INFINITY);
  EXPECT_TRUE(scaler.Step(one.optimizer));
  EXPECT_TRUE(one.weight.isinf().all().item<bool>());
  scaler.Update();
  EXPECT_EQ(scaler.scale(), 1);
  scaler.VisitState([](const std::string& name, torch::Tensor&) { ADD_FAILURE() << name; });
}

TEST(LossScaler, TakesAScaleThatItIsGiven) {
  LossScaler scaler({});
  scaler.Scale(torch::ones({}));
  scaler.Update(8.0);
  EXPECT_EQ(scaler.scale(), 8);
  One one;
  EXPECT_TRUE(scaler.Step(one.optimizer));
  EXPECT_EQ(one.weight[0].item<double>(), 1 - 0.5 * 4 / 8);
}

TEST(LossScaler, StepsHalfGradientsOnlyFused) {
  LossScaler scaler({.initial_scale = 8});
  One one(at::kHalf);
  scaler.Scale(torch::ones({}));
  EXPECT_THROW(scaler.Step(one.optimizer), UsageError);
  EXPECT_EQ(scaler.FusedStep(one.optimizer).item<double>(), 0);
  EXPECT_EQ(one.weight[0].item<double>(), 1 - 0.5 * 4 / 8);
  EXPECT_THROW(scaler.FusedStep(one.optimizer), UsageError);
}

TEST(LossScaler, SaysWhatItRefuses) {
  LossScaler scaler({});
  One one;
  try {
    scaler.Unscale(one.optimizer);
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "Unscale of the scaler before any scaled loss");
  }
  EXPECT_THROW(LossScaler({.growth_factor = 1}), UsageError);
  EXPECT_THROW(LossScaler({.backoff_factor = 1}), UsageError);
}

TEST(Checkpointed, RunsABlockOnceForwardAndOnceBackward) {
  int runs = 0;
  const Block block = [&](const torch::Tensor& x) {
    ++runs;
    return x * x;
  };
  {
    const torch::NoGradGuard no_grad;
    EXPECT_FALSE(Checkpointed(block, torch::ones({2})).requires_grad());
    EXPECT_EQ(runs, 1);
  }
  const torch::Tensor x = torch::full({2}, 3.0, at::requires_grad());
  const torch::Tensor y = Checkpointed(block, x);
  EXPECT_EQ(runs, 2);
  y.sum().backward();
  EXPECT_EQ(runs, 3);
  EXPECT_EQ(x.grad()[0].item<double>(), 6);
}

}  // namespace
}  // namespace dlcheck::reference
