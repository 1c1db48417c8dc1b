#include "checks/signals/loss/initial_loss.h"

#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"

namespace dlcheck {
namespace {

RunBuilder Untrained(bool with_constant = true) {
  RunBuilder run;
  run.Quantity(Quantity::kInitialLoss, "loss", "", 2.4, 32)
      .Quantity(Quantity::kIndependentLoss, "loss", "", 2.5);
  if (with_constant) run.Quantity(Quantity::kConstantLoss, "loss", "", 2.3, 10);
  return run;
}

TEST(InitialLoss, StandsBesideWhatAConstantOutputReaches) {
  const auto loss = InitialLoss::From(Untrained().Build());
  ASSERT_TRUE(loss.ok()) << loss.status();
  EXPECT_EQ(loss->initial, 2.4);
  EXPECT_EQ(loss->independent, 2.5);
  EXPECT_EQ(loss->constant, 2.3);
  EXPECT_EQ(loss->samples, 32);
  EXPECT_EQ(loss->classes, 10);
}

TEST(InitialLoss, IsNotJudgedWhereOneOfTheThreeIsMissing) {
  EXPECT_EQ(InitialLoss::From(Untrained(false).Build()).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace dlcheck
