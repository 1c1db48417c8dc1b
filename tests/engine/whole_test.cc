#include "checks/engine/whole.h"

#include <gtest/gtest.h>

#include <limits>

namespace dlcheck {
namespace {

constexpr int64_t kMost = int64_t{1} << 53;

TEST(Whole, DropsTheFraction) {
  EXPECT_EQ(Whole(3.9), 3);
  EXPECT_EQ(Whole(-3.9), -3);
}

TEST(Whole, GivesTheNearestThatCanBeAddedUpOfWhatFitsNoInteger) {
  EXPECT_EQ(Whole(6.7e151), kMost);
  EXPECT_EQ(Whole(-1e300), -kMost);
  EXPECT_EQ(Whole(std::numeric_limits<double>::infinity()), kMost);
}

TEST(Whole, IsZeroOfWhatIsNoNumber) {
  EXPECT_EQ(Whole(std::numeric_limits<double>::quiet_NaN()), 0);
}

}  // namespace
}  // namespace dlcheck
