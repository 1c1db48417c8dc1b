#include "checks/signals/optimizer/ownership.h"

#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"

namespace dlcheck {
namespace {

TEST(Ownership, ReadsTheOrdinalOfAnOptimizerOffItsNameOrThatOfAGroup) {
  EXPECT_EQ(OptimizerOrdinal("optimizer#1/group#0"), 1);
  EXPECT_EQ(OptimizerOrdinal("optimizer#12"), 12);
  EXPECT_EQ(OptimizerOrdinal("optimizer#"), -1);
  EXPECT_EQ(OptimizerOrdinal("model#1"), -1);
  EXPECT_EQ(OptimizerOrdinal(""), -1);
}

TEST(Ownership, GivesEachOptimizerTheModelsWhoseParametersItHolds) {
  RunBuilder run;
  run.Parameter("a.weight").Ordinal(1).Parameter("a.weight");
  run.Ordinal(2).Attribute("parameter", "b.weight", "optimizer", "optimizer#3/group#0");
  const std::map<int, std::set<int>> models = ModelsOfOptimizers(run.Build().trace);
  EXPECT_EQ(models, (std::map<int, std::set<int>>{{0, {0, 1}}, {3, {2}}}));
}

TEST(Ownership, LeavesOutParametersOfNoModelAndOfNoOptimizer) {
  RunBuilder run;
  run.Parameter("a.weight").Attribute("parameter", "a.weight", "orphan", "1");
  run.Attribute("parameter", "frozen", "requires_grad", "0");
  EXPECT_TRUE(ModelsOfOptimizers(run.Build().trace).empty());
}

}  // namespace
}  // namespace dlcheck
