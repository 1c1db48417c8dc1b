#include "checks/signals/optimizer/frozen_parameters.h"

#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

// A parameter that moves in each of ten steps, frozen from step 2 on and thawed in step 6.
RunBuilder FrozenAndThawed(double gradient_growth) {
  RunBuilder run;
  run.Parameter("layer.weight");
  double gradient = 1;
  for (int step = 0; step < 10; ++step) {
    if (step == 2) run.Event(Event::kFrozen, 0, "parameter", "layer.weight");
    if (step == 6) run.Event(Event::kThawed, 0, "parameter", "layer.weight");
    run.Quantity(Quantity::kGradientNorm, "parameter", "layer.weight", gradient);
    run.Quantity(Quantity::kUpdateNorm, "parameter", "layer.weight", 0.5);
    run.Event(Event::kStep, 0, "optimizer", "");
    gradient *= gradient_growth;
  }
  return run;
}

FrozenParameters Frozen(const RunBuilder& run) {
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  return SignalOf<FrozenParameters>(evidence);
}

TEST(FrozenParameters, TakeTheStepsBetweenFreezingAndThawing) {
  const FrozenParameters frozen = Frozen(FrozenAndThawed(1));
  ASSERT_EQ(frozen.parameters.size(), 1u);
  const FrozenParameters::Parameter& parameter = frozen.parameters[0];
  EXPECT_EQ(parameter.name, "layer.weight");
  EXPECT_EQ(parameter.frozen_at, 2);
  ASSERT_EQ(parameter.steps.size(), 3u);
  EXPECT_EQ(parameter.steps.front().step, 3);
  EXPECT_EQ(parameter.steps.back().step, 5);
  EXPECT_DOUBLE_EQ(parameter.steps.front().norm, 0.5);
}

TEST(FrozenParameters, TellAGradientThatGrewFromOneThatStayed) {
  EXPECT_FALSE(Frozen(FrozenAndThawed(1)).parameters[0].fresh_gradients);
  EXPECT_FALSE(Frozen(FrozenAndThawed(0.5)).parameters[0].fresh_gradients);
  EXPECT_TRUE(Frozen(FrozenAndThawed(2)).parameters[0].fresh_gradients);
}

TEST(FrozenParameters, AreNoneWhereNothingWasFrozen) {
  RunBuilder run;
  run.Parameter("layer.weight").Quantity(Quantity::kUpdateNorm, "parameter", "layer.weight", 1);
  EXPECT_FALSE(FrozenParameters::From(run.Event(Event::kStep).Build()).ok());
}

}  // namespace
}  // namespace dlcheck
