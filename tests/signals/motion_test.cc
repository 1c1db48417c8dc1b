#include "checks/signals/optimizer/motion.h"

#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

// Ten steps of SGD with this rate on a weight of norm 1 with a gradient of norm 1.
struct SgdSteps {
  double rate = 0.1, moved = 0.1;
  const char* dtype = "float32";
  const char* type = "SGD";
};

void AddSgdSteps(const SgdSteps& steps, RunBuilder& run) {
  run.Parameter("layer.weight").Attribute("parameter", "layer.weight", "dtype", steps.dtype);
  run.Attribute("parameter", "layer.weight", "elements", "16");
  run.Attribute("optimizer", "", "type", steps.type);
  for (int step = 0; step < 10; ++step) {
    run.Quantity(Quantity::kLearningRate, "group", "optimizer#0/group#0", steps.rate);
    run.Quantity(Quantity::kGradientNorm, "parameter", "layer.weight", 1);
    run.Quantity(Quantity::kWeightNorm, "parameter", "layer.weight", 1);
    run.Quantity(Quantity::kUpdateNorm, "parameter", "layer.weight", steps.moved);
    run.Event(Event::kStep, 0, "optimizer", "");
  }
}

RunBuilder RunOfSgd(const SgdSteps& steps) {
  RunBuilder run;
  AddSgdSteps(steps, run);
  return run;
}

Motion MotionOf(const RunBuilder& run) {
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  return SignalOf<Motion>(evidence);
}

TEST(Motion, JudgesStepsThatRoundingCannotHide) {
  const Motion moved = MotionOf(RunOfSgd({}));
  ASSERT_EQ(moved.parameters.size(), 1u);
  EXPECT_EQ(moved.parameters[0].judged, 10);
  EXPECT_EQ(moved.parameters[0].last_step, 9);
  EXPECT_TRUE(moved.parameters[0].moved);
  EXPECT_DOUBLE_EQ(moved.parameters[0].rate, 0.1);
  EXPECT_FALSE(MotionOf(RunOfSgd({.moved = 0})).parameters[0].moved);
}

TEST(Motion, LeavesOutSmallUpdatesHalfPrecisionAndUnknownRules) {
  EXPECT_FALSE(Motion::From(RunOfSgd({.rate = 1e-7}).Build()).ok());
  EXPECT_FALSE(Motion::From(RunOfSgd({.dtype = "bfloat16"}).Build()).ok());
  EXPECT_FALSE(Motion::From(RunOfSgd({.type = "MyOptimizer"}).Build()).ok());
}

TEST(Motion, LeavesOutStepsThatTheScalerLeftOut) {
  RunBuilder run = RunOfSgd({.moved = 0});
  for (int step = 0; step < 9; ++step) {
    run.Resume(step).Event(Event::kSkipped, 0, "optimizer", "");
  }
  EXPECT_EQ(MotionOf(run).parameters[0].judged, 1);
}

// The second process holds another part of the weight, which does not move.
TEST(Motion, ReadsOneProcessAlone) {
  RunBuilder run = RunOfSgd({});
  AddSgdSteps({.moved = 0}, run.Rank(1));
  const Motion motion = MotionOf(run);
  EXPECT_EQ(motion.parameters[0].judged, 10);
  EXPECT_TRUE(motion.parameters[0].moved);
}

}  // namespace
}  // namespace dlcheck
