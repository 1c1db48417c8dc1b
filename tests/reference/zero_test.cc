// ZeRO: what ranks share out gives the bits of what each keeps whole.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "tests/reference/ranks_runs.h"

namespace dlcheck::reference {
namespace {

// With two ranks every sum has one order.
TEST(Zero, TrainsToTheBitsOfReplicas) {
  std::map<std::string, Plan> plans;
  for (const char* optimizer : {"sgd", "adamw"}) {
    plans[optimizer] = ShortPlan();
    plans[optimizer].recipe.optimizer = optimizer;
    plans[optimizer].recipe.weight_decay = 0.1;
  }
  plans["windows"] = ShortPlan("resnet");
  plans["windows"].recipe.gradient_accumulation_steps = 2;
  plans["windows"].recipe.ema_decay = 0.9;
  plans["bf16"] = ShortPlan();
  plans["bf16"].recipe.weights = "bf16";
  plans["bf16"].recipe.optimizer = "adam";
  plans["scaled"] = ShortPlan();
  plans["scaled"].recipe.autocast = "fp16";
  plans["scaled"].recipe.initial_scale = 1 << 24;
  for (auto& [name, plan] : plans) {
    for (const int64_t world : {2, 4}) {
      plan.recipe.zero_stage = 0;
      const std::vector<Trained> replicas = TrainTogether(plan, world);
      for (const int64_t zero : {1, 2, 3}) {
        plan.recipe.zero_stage = zero;
        for (const Trained& rank : TrainTogether(plan, world)) {
          EXPECT_TRUE(AllEqual(rank.weights, replicas[0].weights))
              << name << ", " << world << " ranks, stage " << zero;
          EXPECT_EQ(rank.counters.skipped, replicas[0].counters.skipped);
        }
      }
    }
  }
}

// Stretches are of 64 numbers or more, so that biases lie on the first rank alone, and of 40 ranks
// the last has nothing of any parameter.
TEST(Zero, TrainsAsOneProcessDoesWhereStretchesAreUnequalOrEmpty) {
  Plan plan = ShortPlan();
  plan.recipe.optimizer = "adamw";
  plan.recipe.gradient_clip_algorithm = "norm";
  plan.recipe.gradient_clip_val = 0.5;
  for (const char* norm : {"1", "2", "inf"}) {
    plan.recipe.gradient_clip_norm_type = norm;
    plan.recipe.zero_stage = 0;
    const Outcome alone = RunPlan(plan, {});
    for (const int64_t world : {3, 40}) {
      for (const int64_t zero : {1, 2, 3}) {
        plan.recipe.zero_stage = zero;
        for (const Trained& rank : TrainTogether(plan, world)) {
          EXPECT_LE(Distance(rank.weights, WeightsOf(alone)), 1e-5) << norm << " " << world;
        }
      }
    }
  }
}

TEST(Zero, LeavesAStepOutOnAllRanksWhereOneFoundAnInfinity) {
  for (const bool one_overflows : {false, true}) {
    std::vector<double> scales(2), weights(2);
    RunThreadRanks(2, [&](const Ranks& ranks) {
      LossScaler::Options options;
      options.initial_scale = 8;
      options.agree = [&](double found) { return ranks.Largest(found); };
      LossScaler scaler(options);
      const torch::Tensor weight = torch::ones(3).requires_grad_();
      Optimizer optimizer({}, {{"all", 0.1, 0, {{"weight", weight}}}});
      const double infinite = one_overflows && ranks.rank() == 1 ? INFINITY : 1;
      scaler.Scale((weight * infinite).sum()).backward();
      scaler.Step(optimizer);
      scaler.Update();
      const auto rank = static_cast<size_t>(ranks.rank());
      scales[rank] = scaler.scale();
      weights[rank] = weight[0].item<double>();
    });
    EXPECT_EQ(scales, std::vector<double>(2, one_overflows ? 4 : 8));
    EXPECT_EQ(weights[0], weights[1]);
    EXPECT_EQ(weights[0] == 1, one_overflows);
  }
}

}  // namespace
}  // namespace dlcheck::reference
