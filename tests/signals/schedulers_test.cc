#include "checks/signals/schedule/schedulers.h"

#include <gtest/gtest.h>

#include "checks/catalog/examples/scheduler_runs.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

Schedulers SchedulersOf(const ScheduledRun& values) {
  return SignalOf<Schedulers>(Scheduled(values));
}

TEST(Schedulers, StepsAreCountedBesideThoseOfTheOptimizer) {
  const Schedulers signal = SchedulersOf({.steps = 60, .horizon = 60});
  ASSERT_EQ(signal.schedulers.size(), 1u);
  EXPECT_EQ(signal.schedulers[0].fewest, 60);
  EXPECT_EQ(signal.schedulers[0].most, 60);
  EXPECT_EQ(signal.schedulers[0].horizon, 60);
  EXPECT_EQ(signal.calls, 60);
  EXPECT_TRUE(signal.has_one_optimizer());
  EXPECT_TRUE(signal.finished);
}

TEST(Schedulers, OneThatIsNeverSteppedIsSeenAsItIsBuilt) {
  const Schedulers signal = SchedulersOf({.steps = 20, .every = 0});
  ASSERT_EQ(signal.schedulers.size(), 1u);
  EXPECT_TRUE(signal.schedulers[0].built_seen);
  EXPECT_EQ(signal.schedulers[0].most, 0);
  EXPECT_TRUE(signal.schedulers[0].moves.empty());
}

TEST(Schedulers, SeveralStepsAtOnceAreAllCounted) {
  EXPECT_EQ(SchedulersOf({.steps = 20, .moves = 4}).schedulers[0].fewest, 80);
}

TEST(Schedulers, OneThatStepsEachEpochStepsSeldom) {
  EXPECT_EQ(SchedulersOf({.steps = 60, .every = 10}).schedulers[0].fewest, 6);
}

TEST(Schedulers, ALoadedStateIsTold) {
  EXPECT_FALSE(SchedulersOf({.steps = 20}).state_loaded);
  EXPECT_TRUE(SchedulersOf({.steps = 20, .loaded = true}).state_loaded);
}

}  // namespace
}  // namespace dlcheck
