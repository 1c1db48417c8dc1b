#include "checks/signals/loss/windows.h"

#include <gtest/gtest.h>

#include "checks/catalog/examples/window_runs.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

constexpr double kTolerance = 1e-3;

Division DivisionOfShares(const std::vector<Windows::MicroBatch>& micro, size_t full) {
  return DivisionOf({.step = 0, .micro = micro, .cleared_inside = false}, full, kTolerance);
}

TEST(Windows, SharesByTargetsMakeTheMeanOverAllTargets) {
  EXPECT_EQ(DivisionOfShares({{0.75, 24}, {0.25, 8}}, 2), Division::kByTargets);
  EXPECT_EQ(DivisionOfShares({{0.5, 16}, {0.5, 16}}, 2), Division::kByTargets);
}

TEST(Windows, EqualSharesOfUnequalCountsAreTheUnweightedMean) {
  EXPECT_EQ(DivisionOfShares({{0.5, 24}, {0.5, 8}}, 2), Division::kByMicroBatches);
}

TEST(Windows, LossesThatNobodyDividedCountWhole) {
  EXPECT_EQ(DivisionOfShares({{1, 16}, {1, 16}}, 2), Division::kUndivided);
}

TEST(Windows, LossesDividedTwiceAreTooSmall) {
  EXPECT_EQ(DivisionOfShares({{0.25, 16}, {0.25, 16}}, 2), Division::kTwice);
}

TEST(Windows, AShortWindowMayBeDividedAsIfItWereFull) {
  EXPECT_EQ(DivisionOfShares({{0.25, 16}, {0.25, 16}}, 4), Division::kAsIfFull);
}

TEST(Windows, SharesThatNothingExplainsAreOther) {
  EXPECT_EQ(DivisionOfShares({{0.3, 16}, {0.9, 16}}, 2), Division::kOther);
}

TEST(Windows, UnevennessIsTheLargestDistanceFromAnEqualShare) {
  const Windows::Window even{.step = 0, .micro = {{0.5, 16}, {0.5, 16}}, .cleared_inside = false};
  const Windows::Window uneven{.step = 0, .micro = {{0.5, 24}, {0.5, 8}}, .cleared_inside = false};
  EXPECT_DOUBLE_EQ(even.Unevenness(), 0);
  EXPECT_DOUBLE_EQ(uneven.Unevenness(), 0.5);
  EXPECT_DOUBLE_EQ(uneven.Targets(), 32);
  EXPECT_DOUBLE_EQ(uneven.Share(), 1);
}

TEST(Windows, AreReadStepByStepWithTheLargestAndTheProgramsOwnWord) {
  const auto signal = SignalOf<Windows>(
      WindowsOf({{{0.25, 8}, {0.25, 8}, {0.25, 8}, {0.25, 8}}, {{0.5, 8}, {0.5, 8}}}, true));
  ASSERT_EQ(signal.windows.size(), 16u);
  EXPECT_EQ(signal.full, 4u);
  EXPECT_EQ(signal.declared, "mean");
  EXPECT_EQ(signal.windows[1].micro.size(), 2u);
  EXPECT_NEAR(signal.windows[1].micro[0].share, 0.5, 1e-9);
  EXPECT_FALSE(signal.interleaved);
}

}  // namespace
}  // namespace dlcheck
