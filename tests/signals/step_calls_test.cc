#include "checks/signals/precision/step_calls.h"

#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

// Of a run whose optimizer steps come from loss scaling: the scale, then each call taken or not.
RunBuilder Scaled(const std::vector<bool>& taken) {
  RunBuilder run;
  run.Quantity(Quantity::kLossScale, "scaler", "", 1024);
  for (const bool is_taken : taken) {
    if (is_taken) {
      run.Event(Event::kStep);
    } else {
      run.Event(Event::kSkipped);
      run.Resume(run.step() + 1);
    }
  }
  return run;
}

TEST(StepCalls, CountsSkippedCallsAndTheFirstAndLastOfThem) {
  const absl::StatusOr<StepCalls> calls =
      StepCalls::From(Scaled({false, false, true, false, true}).Build());
  ASSERT_TRUE(calls.ok()) << calls.status();
  EXPECT_EQ(calls->skipped, 3);
  EXPECT_EQ(calls->leading, 2);
  EXPECT_EQ(calls->first_skipped, 0);
  EXPECT_EQ(calls->last_skipped, 3);
}

TEST(StepCalls, AreNotAskedAboutWhereNothingLeavesStepsOut) {
  const RunBuilder unscaled = RunBuilder().Event(Event::kStep);
  EXPECT_EQ(StepCalls::From(unscaled.Build()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  const RunBuilder skipping = RunBuilder().Event(Event::kSkipped).Event(Event::kStep);
  EXPECT_TRUE(StepCalls::From(skipping.Build()).ok());
  EXPECT_TRUE(StepCalls::From(Scaled({true}).Build()).ok());
}

TEST(StepCalls, AreNotObservedWithoutAStep) {
  EXPECT_EQ(StepCalls::From(RunBuilder().Build()).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace dlcheck
