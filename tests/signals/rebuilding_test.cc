#include "checks/signals/optimizer/rebuilding.h"

#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

Rebuilding RebuildingIn(const RunBuilder& run) {
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  return SignalOf<Rebuilding>(evidence);
}

// Optimizers of one step each over the same layer.
struct Built {
  const char* type = "Adam";
  bool loads = false;
};

RunBuilder OptimizersInARow(const std::vector<Built>& optimizers) {
  RunBuilder run;
  run.Parameter("layer.weight");
  for (size_t i = 0; i < optimizers.size(); ++i) {
    run.Ordinal(static_cast<int>(i)).Attribute("optimizer", "", "type", optimizers[i].type);
    run.Attribute("optimizer", "", "stateful", "1").Attribute("optimizer", "", "parameters", "1");
    if (optimizers[i].loads) run.Event(Event::kLoaded, 0, "optimizer", "");
    run.Ordinal(0).Quantity(Quantity::kGradientNorm, "parameter", "layer.weight", 1);
    run.Ordinal(static_cast<int>(i)).Event(Event::kStep, 0, "optimizer", "");
  }
  return run;
}

TEST(Rebuilding, IsTheLongestRowOfOptimizersOverOneParameter) {
  const Rebuilding rebuilding = RebuildingIn(OptimizersInARow({{}, {}, {}, {}}));
  EXPECT_EQ(rebuilding.optimizers, 4);
  EXPECT_EQ(rebuilding.steps, 4);
  EXPECT_EQ(rebuilding.first_step, 0);
  EXPECT_EQ(rebuilding.last_step, 3);
  EXPECT_EQ(rebuilding.first_parameter, "layer.weight");
}

TEST(Rebuilding, EndsARowAtAnotherType) {
  EXPECT_EQ(RebuildingIn(OptimizersInARow({{}, {}, {"AdamW"}, {"AdamW"}, {"AdamW"}})).optimizers,
            3);
}

TEST(Rebuilding, EndsARowWhereStateIsLoaded) {
  EXPECT_EQ(RebuildingIn(OptimizersInARow({{}, {}, {"Adam", true}})).optimizers, 2);
}

TEST(Rebuilding, EndsARowWhereStepsWereNotSampled) {
  RunBuilder run = OptimizersInARow({{}, {}});
  run.Resume(40).Ordinal(2).Attribute("optimizer", "", "type", "Adam");
  run.Attribute("optimizer", "", "stateful", "1").Attribute("optimizer", "", "parameters", "1");
  run.Ordinal(0).Quantity(Quantity::kGradientNorm, "parameter", "layer.weight", 1);
  EXPECT_EQ(RebuildingIn(run.Ordinal(2).Event(Event::kStep, 0, "optimizer", "")).optimizers, 2);
}

}  // namespace
}  // namespace dlcheck
