#include "reference/training/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace dlcheck::reference {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

MetricTable TableOf(const std::vector<double>& losses) {
  MetricTable table;
  for (const double loss : losses) {
    table.push_back({static_cast<int64_t>(10 * table.size()), loss, 0});
  }
  return table;
}

bool Stops(const std::vector<double>& losses, Patience::Rule rule, int64_t evaluations = 2,
           double min_delta = 0) {
  return StopsEarly(TableOf(losses), {evaluations, min_delta, rule});
}

TEST(Patience, StopsWhenTheMissesReachItOrOneLaterByTheOtherRule) {
  constexpr auto kReached = Patience::Rule::kReached, kExceeded = Patience::Rule::kExceeded;
  EXPECT_FALSE(Stops({1, 2}, kReached));
  EXPECT_TRUE(Stops({1, 2, 2}, kReached));
  EXPECT_FALSE(Stops({1, 2, 2}, kExceeded));
  EXPECT_TRUE(Stops({1, 2, 2, 2}, kExceeded));
  EXPECT_FALSE(Stops({1, 2, 0.9, 2}, kReached)) << "an improvement ends the misses in a row";
  EXPECT_FALSE(Stops({1, 2, 2, 2}, kReached, 0)) << "no patience is no early stop";
}

TEST(Patience, CountsOnlyWhatImprovesByMoreThanMinDelta) {
  constexpr auto kReached = Patience::Rule::kReached;
  EXPECT_TRUE(Stops({1, 0.9, 0.8}, kReached, 2, 0.25));
  EXPECT_FALSE(Stops({1, 0.9, 0.7}, kReached, 2, 0.25));
  EXPECT_TRUE(Stops({1, 0.75, 0.75}, kReached, 2, 0.25)) << "exactly min_delta is no improvement";
}

TEST(Patience, TakesALossThatIsNotFiniteAsTheEndOrAsAMiss) {
  EXPECT_TRUE(Stops({1, kNan}, Patience::Rule::kReached));
  EXPECT_FALSE(Stops({1, kNan}, Patience::Rule::kExceeded));
  EXPECT_TRUE(Stops({1, kNan, kNan, kNan}, Patience::Rule::kExceeded));
}

TEST(Selection, TakesTheEarliestOfTheLowestAndNeverANan) {
  EXPECT_THAT(BestSteps(TableOf({3, 1, 2, 1}), 1), ElementsAre(10));
  EXPECT_THAT(BestSteps(TableOf({kNan, 2, kNan}), 2), ElementsAre(10));
  EXPECT_THAT(BestSteps(TableOf({kNan}), 1), IsEmpty());
  EXPECT_THAT(BestSteps(TableOf({3, 1, kNan, 2, 1}), 3), ElementsAre(10, 40, 30));
  EXPECT_THAT(BestSteps(TableOf({3}), 0), IsEmpty());
}

TEST(Selection, TakesTheLowestMeanOfAWindowByItsEnd) {
  EXPECT_THAT(BestSteps(Smoothed(TableOf({1, 9, 3, 3, 4}), 2), 1), ElementsAre(30));
  EXPECT_THAT(BestSteps(Smoothed(TableOf({1, kNan, 3, 3}), 3), 1), IsEmpty());
}

}  // namespace
}  // namespace dlcheck::reference
