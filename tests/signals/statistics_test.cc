#include "checks/signals/run/statistics.h"

#include <gtest/gtest.h>

#include <cmath>

namespace dlcheck {
namespace {

TEST(Median, IsTheMiddleOrTheMeanOfTheMiddleTwo) {
  EXPECT_EQ(Median({3}), 3);
  EXPECT_EQ(Median({9, 1, 5}), 5);
  EXPECT_EQ(Median({9, 1, 5, 7}), 6);
}

// By hand: 5 rising values have 10 rising pairs; (10 - 1) / sqrt(5 * 4 * 15 / 18).
TEST(MannKendall, CountsPairsLessOneInStandardDeviations) {
  const double expected = 9 / std::sqrt(300.0 / 18);
  EXPECT_DOUBLE_EQ(MannKendall({1, 2, 3, 4, 5}), expected);
  EXPECT_DOUBLE_EQ(MannKendall({5, 4, 3, 2, 1}), -expected);
}

TEST(MannKendall, IsZeroWithoutATrend) {
  EXPECT_EQ(MannKendall({}), 0);
  EXPECT_EQ(MannKendall({4}), 0);
  EXPECT_EQ(MannKendall({2, 2, 2}), 0);
  EXPECT_EQ(MannKendall({1, 2, 1}), 0);
}

}  // namespace
}  // namespace dlcheck
