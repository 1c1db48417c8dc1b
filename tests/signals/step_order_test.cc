#include "checks/signals/run/step_order.h"

#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

StepOrder OrderOf(const RunBuilder& run) {
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  return SignalOf<StepOrder>(evidence);
}

TEST(StepOrder, KeepsTheEventsBeforeEachStepInTheirOrder) {
  RunBuilder run;
  run.Event(Event::kCleared).Event(Event::kBackward).Event(Event::kBackward);
  run.Event(Event::kStep, 0, "optimizer", "");
  const StepOrder order = OrderOf(run);
  ASSERT_EQ(order.steps.size(), 1u);
  const StepOrder::Step& step = order.steps[0];
  EXPECT_TRUE(step.taken);
  EXPECT_EQ(step.end(), 3);
  EXPECT_EQ(step.First(Event::kCleared), 0);
  EXPECT_EQ(step.FirstBackward(), 1);
  EXPECT_EQ(step.LastBackward(), 2);
  EXPECT_EQ(step.Count(Event::kBackward), 2);
  EXPECT_EQ(step.First(Event::kUnscale), step.end());
  EXPECT_EQ(step.Within(Event::kBackward, 2, step.end()).size(), 1u);
}

TEST(StepOrder, TellsAStepThatTheScalerLeftOutFromOneThatWasTaken) {
  RunBuilder run;
  run.Event(Event::kBackward).Event(Event::kSkipped, 0, "optimizer", "").Resume(1);
  run.Event(Event::kBackward).Event(Event::kStep, 0, "optimizer", "");
  const StepOrder order = OrderOf(run);
  ASSERT_EQ(order.steps.size(), 2u);
  EXPECT_FALSE(order.steps[0].taken);
  EXPECT_TRUE(order.steps[1].taken);
}

TEST(StepOrder, LeavesOutAStepThatDidNotEnd) {
  RunBuilder run;
  run.Event(Event::kBackward).Event(Event::kStep, 0, "optimizer", "").Event(Event::kBackward);
  EXPECT_EQ(OrderOf(run).steps.size(), 1u);
  EXPECT_FALSE(StepOrder::From(RunBuilder().Event(Event::kBackward).Build()).ok());
}

TEST(StepOrder, ReadsTheFirstProcessAlone) {
  RunBuilder run;
  run.Event(Event::kStep, 0, "optimizer", "");
  run.Rank(1).Event(Event::kBackward).Event(Event::kStep, 0, "optimizer", "");
  const StepOrder order = OrderOf(run);
  ASSERT_EQ(order.steps.size(), 1u);
  EXPECT_EQ(order.steps[0].end(), 0);
}

TEST(StepOrder, TellsOptimizersThatTakeTurnsFromThoseThatFollowEachOther) {
  const auto steps = [](std::initializer_list<int> optimizers) {
    RunBuilder run;
    for (const int ordinal : optimizers) {
      run.Ordinal(ordinal).Event(Event::kStep, 0, "optimizer", "");
    }
    return OrderOf(run);
  };
  EXPECT_TRUE(steps({0, 0}).has_one_optimizer());
  EXPECT_FALSE(steps({0, 1}).has_one_optimizer());
  EXPECT_TRUE(steps({0, 0, 1, 1}).has_one_at_a_time());
  EXPECT_FALSE(steps({0, 1, 0}).has_one_at_a_time());
}

}  // namespace
}  // namespace dlcheck
