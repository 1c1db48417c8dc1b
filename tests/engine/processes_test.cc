#include "checks/engine/processes.h"

#include <gtest/gtest.h>

#include "checks/engine/report.h"
#include "checks/engine/run_builder.h"

namespace dlcheck {
namespace {

// A process of `steps` steps whose losses end at `loss`.
void AddProcess(RunBuilder& run, uint16_t rank, int steps, double loss) {
  run.Rank(rank);
  for (int step = 0; step < steps; ++step) {
    run.Event(Event::kUsed, 16 + rank, "model", "Net");
    run.Quantity(Quantity::kLoss, "loss", "mse_loss", loss + steps - step - 1);
    run.Event(Event::kBackward, 0, "loss", "mse_loss");
    run.Quantity(Quantity::kStepTime, "", "", 0.01 * (1 + step));
    run.Event(Event::kStep, 0, "optimizer", "optimizer#0");
  }
}

TEST(Processes, AreToldApartByRank) {
  RunBuilder run;
  AddProcess(run, 0, 5, 0.25);
  AddProcess(run, 1, 3, 0.5);
  run.Attribute("process", "1", "ended", "ValueError");
  const std::vector<ProcessSummary> found = ProcessesIn(run.Build().trace);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].rank, 0);
  EXPECT_EQ(found[0].steps, 5);
  EXPECT_DOUBLE_EQ(found[0].last_loss, 0.25);
  EXPECT_DOUBLE_EQ(found[0].step_seconds, 0.03);
  EXPECT_EQ(found[0].ended, "");
  EXPECT_EQ(found[1].steps, 3);
  EXPECT_DOUBLE_EQ(found[1].batch, 17);
  EXPECT_EQ(found[1].ended, "ValueError");
}

TEST(Processes, OfOneAreNotTold) {
  RunBuilder run;
  AddProcess(run, 0, 5, 0.25);
  EXPECT_TRUE(ProcessesIn(run.Build().trace).empty());
}

TEST(Processes, CountTheStepsOfTheOneWithMost) {
  RunBuilder run;
  AddProcess(run, 0, 5, 0.25);
  AddProcess(run, 1, 7, 0.5);
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  const Coverage coverage = CoverageOf(evidence);
  EXPECT_EQ(coverage.steps, 7);
  EXPECT_EQ(coverage.sampled_steps, 7);
}

}  // namespace
}  // namespace dlcheck
