#include "checks/signals/evaluation/evaluations.h"

#include <gtest/gtest.h>

#include "checks/catalog/examples/evaluation_runs.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

Evaluations EvaluationsOf(const EvaluationValues& values) {
  return SignalOf<Evaluations>(ThreeEvaluations(values));
}

TEST(Evaluations, AreReadWithTheirBatches) {
  const Evaluations signal = EvaluationsOf({.batches = 5});
  ASSERT_EQ(signal.evaluations.size(), 3u);
  EXPECT_TRUE(signal.mode_dependent);
  for (const Evaluations::Evaluation& evaluation : signal.evaluations) {
    EXPECT_EQ(evaluation.batches, 5);
    EXPECT_EQ(evaluation.in_training_mode, 0);
    EXPECT_TRUE(evaluation.compared);
    EXPECT_FALSE(evaluation.model_changed);
  }
}

TEST(Evaluations, InTrainingModeAreTold) {
  const Evaluations signal = EvaluationsOf({.in_training_mode = 1});
  EXPECT_EQ(signal.evaluations[1].in_training_mode, 0);
  EXPECT_EQ(signal.evaluations[2].in_training_mode, signal.evaluations[2].batches);
}

TEST(Evaluations, ThatChangeTheModelAreTold) {
  const Evaluations signal = EvaluationsOf({.changed = 1});
  EXPECT_FALSE(signal.evaluations[1].model_changed);
  EXPECT_TRUE(signal.evaluations[2].model_changed);
}

TEST(Evaluations, BatchesWithGradientsAreCounted) {
  EXPECT_EQ(EvaluationsOf({.with_gradients = 1}).evaluations[0].with_gradients, 1);
}

TEST(Evaluations, AModelWithoutDropoutDoesNotDependOnTheMode) {
  EXPECT_FALSE(EvaluationsOf({.has_dropout = false}).mode_dependent);
}

}  // namespace
}  // namespace dlcheck
