#include "reference/search/lr_range.h"

#include <gtest/gtest.h>

#include <cmath>

#include "reference/training/run.h"

namespace dlcheck::reference {
namespace {

// Falls from 2 to 1 between steps 30 and 60, stays, and rises from step 80 on.
std::vector<double> Falling() {
  std::vector<double> losses;
  for (int step = 0; step < 100; ++step) {
    const double fall = step < 30 ? 0 : std::min(1.0, (step - 30) / 30.0);
    losses.push_back(2 - fall + (step < 80 ? 0 : (step - 80) * 0.1));
  }
  return losses;
}

double RateOf(int step) { return 1e-4 * std::pow(1e4, step / 99.0); }

TEST(LrRange, IsWhereTheLossFallsAndBeforeItRises) {
  const RateRange range = RangeOf(Falling(), 1e-4, 1);
  EXPECT_GT(range.learns_from, RateOf(33));
  EXPECT_LT(range.learns_from, RateOf(50));
  EXPECT_GT(range.lowest_at, RateOf(70));
  EXPECT_LT(range.lowest_at, RateOf(85));
  EXPECT_GT(range.diverges_from, RateOf(80));
  EXPECT_LT(range.diverges_from, RateOf(95));
}

TEST(LrRange, EndsWhereALossIsNotFinite) {
  std::vector<double> losses = Falling();
  losses[70] = NAN;
  EXPECT_DOUBLE_EQ(RangeOf(losses, 1e-4, 1).diverges_from, RateOf(70));
}

TEST(LrRange, OfALossThatNeverFallsIsNone) {
  std::vector<double> losses;
  for (int step = 0; step < 100; ++step) losses.push_back(1 + step);
  EXPECT_TRUE(std::isnan(RangeOf(losses, 1e-4, 1).learns_from));
}

TEST(LrRange, OfALossThatNeverRisesHasNoEnd) {
  std::vector<double> losses;
  for (int step = 0; step < 100; ++step) losses.push_back(100 - step);
  EXPECT_TRUE(std::isinf(RangeOf(losses, 1e-4, 1).diverges_from));
}

// The lowest validation loss of a grid of constant rates lies where the range says.
TEST(LrRange, HoldsTheBestRateOfAGrid) {
  Recipe recipe;
  recipe.steps = 200;
  recipe.evaluate_every = 200;
  double best = 0, lowest = INFINITY;
  for (const double rate : {1e-4, 1e-3, 1e-2, 1e-1, 1.0}) {
    Plan plan;
    plan.recipe = recipe;
    plan.recipe.lr = rate;
    plan.is_silent = true;
    const double loss = RunPlan(plan, Observer()).scores.loss;
    if (loss < lowest) {
      lowest = loss;
      best = rate;
    }
  }
  testing::internal::CaptureStdout();
  EXPECT_EQ(RunLrRange(recipe), 0);
  const std::string said = testing::internal::GetCapturedStdout();
  double low = 0, high = 0, first = 0;
  ASSERT_EQ(std::sscanf(said.c_str() + said.find("all seeds"),
                        "all seeds learn from %lf to %lf; try %lf first", &low, &high, &first),
            3)
      << said;
  EXPECT_LE(low, best) << said;
  EXPECT_GE(high, best) << said;
  EXPECT_GT(first, best / 10) << said;
  EXPECT_LT(first, best * 10) << said;
}

}  // namespace
}  // namespace dlcheck::reference
