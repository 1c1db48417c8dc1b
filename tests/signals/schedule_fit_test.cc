#include "checks/signals/schedule/schedule_fit.h"

#include <gtest/gtest.h>

#include "checks/catalog/examples/schedule_runs.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

using Kind = ScheduleFit::Kind;

std::vector<ScheduleFit::Group> GroupsOf(const std::function<double(int, int64_t)>& used) {
  return SignalOf<ScheduleFit>(RatesUsed(used)).groups;
}

TEST(ScheduleFit, RatesOfTheScheduleFit) {
  const auto groups = GroupsOf([](int, int64_t update) { return ScheduledRate(update); });
  ASSERT_EQ(groups.size(), 2u);
  for (const ScheduleFit::Group& group : groups) {
    EXPECT_EQ(group.kind, Kind::kFits);
    EXPECT_EQ(group.differing, 0);
    EXPECT_EQ(group.judged, kScheduledSteps);
  }
}

TEST(ScheduleFit, RoundingToFloat32Fits) {
  const auto groups = GroupsOf([](int, int64_t update) {
    return static_cast<double>(static_cast<float>(ScheduledRate(update)));
  });
  EXPECT_EQ(groups.front().kind, Kind::kFits);
}

TEST(ScheduleFit, ARateOneUpdateAheadIsShifted) {
  const auto groups = GroupsOf([](int, int64_t update) { return ScheduledRate(update + 1); });
  EXPECT_EQ(groups.front().kind, Kind::kShifted);
  EXPECT_EQ(groups.front().shift, 1);
}

TEST(ScheduleFit, AConstantMultipleIsScaled) {
  const auto groups = GroupsOf(
      [](int group, int64_t update) { return ScheduledRate(update) * (group == 0 ? 1 : 0.25); });
  EXPECT_EQ(groups[0].kind, Kind::kFits);
  EXPECT_EQ(groups[1].kind, Kind::kScaled);
  EXPECT_DOUBLE_EQ(groups[1].factor, 0.25);
}

TEST(ScheduleFit, ARateThatWaitsForTheEndOfAnEpochIsHeld) {
  const auto groups = GroupsOf([](int, int64_t update) { return ScheduledRate(update / 8 * 8); });
  EXPECT_EQ(groups.front().kind, Kind::kHeld);
  EXPECT_EQ(groups.front().stretch, 8);
}

TEST(ScheduleFit, AGroupThatAloneDoesNotMoveIsUngoverned) {
  const auto groups =
      GroupsOf([](int group, int64_t update) { return group == 0 ? ScheduledRate(update) : 0.1; });
  EXPECT_EQ(groups[1].kind, Kind::kUngoverned);
  EXPECT_FALSE(groups[1].moves);
}

TEST(ScheduleFit, TheStepWhereRatesDifferMostIsTold) {
  const auto groups = GroupsOf([](int, int64_t update) {
    return ScheduledRate(update) * (update == 20 ? 3 : update == 30 ? 2 : 1);
  });
  EXPECT_EQ(groups.front().differing, 2);
  EXPECT_EQ(groups.front().step, 20);
  EXPECT_DOUBLE_EQ(groups.front().used, 3 * groups.front().scheduled);
  EXPECT_EQ(groups.front().first_step, 20);
  EXPECT_EQ(groups.front().last_step, 30);
}

}  // namespace
}  // namespace dlcheck
