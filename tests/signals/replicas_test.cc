#include "checks/signals/distributed/replicas.h"

#include <gtest/gtest.h>

#include "checks/catalog/examples/example_runs.h"
#include "checks/catalog/examples/rank_runs.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

Replicas ReplicasOf(const RankRun& run) { return SignalOf<Replicas>(PlainOnly(OfRanks(run))); }

const Replicas::Parameter& First(const Replicas& signal) {
  return signal.groups.front().parameters.front();
}

TEST(Replicas, EqualWeightsNeverPart) {
  const Replicas signal = ReplicasOf({.processes = 3});
  ASSERT_EQ(signal.groups.size(), 1u);
  EXPECT_EQ(signal.groups[0].members.size(), 3u);
  for (const Replicas::Parameter& parameter : signal.groups[0].parameters) {
    EXPECT_EQ(parameter.Parted(), nullptr) << parameter.name;
    EXPECT_TRUE(parameter.unshared.empty()) << parameter.name;
  }
}

TEST(Replicas, WeightsThatPartForGoodAreToldWithStepAndRank) {
  const Replicas signal = ReplicasOf({.processes = 3, .step = [](uint16_t rank, int step) {
                                        const bool apart = rank == 2 && step >= 4;
                                        return RankStep{.weights = apart ? 1000.0 + step : 0};
                                      }});
  const Replicas::State* parted = First(signal).Parted();
  ASSERT_NE(parted, nullptr);
  EXPECT_EQ(parted->step, 4);
  EXPECT_EQ(parted->odd, Ranks{2});
  EXPECT_FALSE(First(signal).CameTogether());
}

TEST(Replicas, WeightsThatComeTogetherAgainWereMeantToPart) {
  const Replicas signal = ReplicasOf({.step = [](uint16_t rank, int step) {
    const bool apart = rank == 1 && step % 2 == 1;
    return RankStep{.weights = apart ? 1000.0 + step : 0};
  }});
  EXPECT_EQ(First(signal).Parted(), nullptr);
  EXPECT_TRUE(First(signal).CameTogether());
}

TEST(Replicas, GradientsThatDifferAreUnshared) {
  const Replicas signal = ReplicasOf(
      {.step = [](uint16_t rank, int) { return RankStep{.gradient = rank == 1 ? 0.3 : 0.1}; }});
  EXPECT_EQ(First(signal).unshared.size(), static_cast<size_t>(First(signal).compared));
  EXPECT_EQ(First(signal).last_shared, -1);
}

}  // namespace
}  // namespace dlcheck
