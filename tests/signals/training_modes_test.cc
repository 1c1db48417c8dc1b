#include "checks/signals/model/training_modes.h"

#include <gtest/gtest.h>

#include "checks/catalog/examples/example_runs.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

// Eight steps of a model with dropout; from step `evaluating` on its forwards are in eval mode.
Evidence Trained(int evaluating, bool has_dropout = true) {
  RunBuilder run = TwoLayers();
  if (has_dropout) run.Attribute("module", "head", "mode_dependent", "1");
  for (int step = 0; step < 8; ++step) {
    const double trains = step < evaluating ? 1 : 0;
    run.Event(Event::kForward, trains, "module", "trunk");
    run.Event(Event::kForward, trains, "module", "head");
    run.Event(Event::kBackward);
    run.Quantity(Quantity::kGradientNorm, "parameter", "trunk.weight", 0.1);
    run.Quantity(Quantity::kGradientNorm, "parameter", "head.weight", 0.1);
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  return PlainOnly(run);
}

TEST(TrainingModes, AModelThatTrainsInTrainingModeIsInNeitherList) {
  const auto signal = SignalOf<TrainingModes>(Trained(8));
  EXPECT_TRUE(signal.left.empty());
  EXPECT_TRUE(signal.never.empty());
  EXPECT_EQ(signal.steps, 8);
}

TEST(TrainingModes, AModelLeftInEvalModeIsToldWithItsLastTrainingStep) {
  const auto signal = SignalOf<TrainingModes>(Trained(3));
  ASSERT_EQ(signal.left.size(), 1u);
  EXPECT_EQ(signal.left[0].last_training, 2);
  EXPECT_EQ(signal.left[0].first_evaluation, 3);
  EXPECT_EQ(signal.left[0].steps_after, 5);
  EXPECT_FALSE(signal.left[0].evaluated_between);
}

// Three steps in training mode, an evaluation, and five steps in eval mode, before which the
// program calls eval() once more, or does not.
Evidence EvaluatedThenTrained(bool switches_again) {
  RunBuilder run = TwoLayers();
  run.Attribute("module", "head", "mode_dependent", "1");
  for (int step = 0; step < 8; ++step) {
    if (step == 3) {
      run.Event(Event::kMode).Event(Event::kEvaluationBegan, 0, "model", "Net");
      run.Event(Event::kEvaluationForward);
      if (switches_again) run.Event(Event::kMode);
    }
    run.Event(Event::kForward, step < 3 ? 1 : 0, "module", "head").Event(Event::kBackward);
    run.Quantity(Quantity::kGradientNorm, "parameter", "head.weight", 0.1);
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
  return PlainOnly(run);
}

TEST(TrainingModes, ASwitchAfterTheEvaluationMayBeMeant) {
  const auto again = SignalOf<TrainingModes>(EvaluatedThenTrained(true));
  ASSERT_EQ(again.left.size(), 1u);
  EXPECT_TRUE(again.left[0].evaluated_between);
  EXPECT_TRUE(again.left[0].may_be_meant);
  const auto once = SignalOf<TrainingModes>(EvaluatedThenTrained(false));
  ASSERT_EQ(once.left.size(), 1u);
  EXPECT_FALSE(once.left[0].may_be_meant);
}

TEST(TrainingModes, AModelThatNeverTrainedInTrainingModeIsTold) {
  const auto signal = SignalOf<TrainingModes>(Trained(0));
  ASSERT_EQ(signal.never.size(), 1u);
  EXPECT_EQ(signal.never[0].steps, 8);
  EXPECT_EQ(signal.never[0].optimized_share, 1);
  EXPECT_FALSE(signal.never[0].only_normalization);
  EXPECT_TRUE(signal.left.empty());
}

TEST(TrainingModes, TheLineIsThatOfTheLastSwitchToEvalModeBeforeIt) {
  RunBuilder run = TwoLayers();
  run.Attribute("module", "head", "mode_dependent", "1");
  for (const int line : {4, 7}) run.Line(line).Event(Event::kMode);
  for (int step = 0; step < 8; ++step) {
    run.Line(0).Event(Event::kForward, 0, "module", "head").Event(Event::kBackward);
    run.Quantity(Quantity::kGradientNorm, "parameter", "head.weight", 0.1);
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0").Line(30).Event(Event::kMode);
  }
  const auto signal = SignalOf<TrainingModes>(PlainOnly(run));
  ASSERT_EQ(signal.never.size(), 1u);
  EXPECT_EQ(signal.never[0].switched.line, 7);
}

TEST(TrainingModes, WhereNoModuleDependsOnTheModeTheQuestionDoesNotApply) {
  const Evidence evidence = Trained(0, false);
  const auto signal = TrainingModes::From(*evidence.RunOf(kPlain));
  EXPECT_TRUE(absl::IsFailedPrecondition(signal.status())) << signal.status();
}

}  // namespace
}  // namespace dlcheck
