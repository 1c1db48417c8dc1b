#include "checks/engine/unseen.h"

#include <gtest/gtest.h>

#include "checks/engine/report.h"
#include "checks/engine/run_builder.h"

namespace dlcheck {
namespace {

// A model of two layers, of which the first was seen to run, and a list that holds the second.
RunBuilder TwoLayers() {
  RunBuilder run;
  for (const char* name : {"", "first", "rest", "rest.0"}) {
    run.Attribute("module", name, "role", "");
  }
  run.Event(Event::kForward, 1, "module", "first").Event(Event::kForward, 1, "module", "");
  return run;
}

TEST(Unseen, CountsLayersWhereSomethingRanUnseen) {
  const dlcheck::Run run = TwoLayers().Process("compiled_graphs", "3").Build();
  const Unseen unseen = UnseenIn(run.trace);
  EXPECT_TRUE(unseen.Any());
  EXPECT_EQ(unseen.compiled_graphs, 3);
  EXPECT_EQ(unseen.layers, 2);
  EXPECT_EQ(unseen.layers_seen, 1);
}

TEST(Unseen, TakesLayersOfTwoModelsWithOneNameApart) {
  RunBuilder run = TwoLayers();
  run.Ordinal(1).Attribute("module", "first", "role", "");
  const Unseen unseen = UnseenIn(run.Process("opaque_modules", "1").Build().trace);
  EXPECT_EQ(unseen.layers, 3);
  EXPECT_EQ(unseen.layers_seen, 1);
}

TEST(Unseen, CountsAModelOfOneModuleAsALayer) {
  RunBuilder run;
  run.Attribute("module", "", "role", "").Process("graph_replays", "40");
  EXPECT_EQ(UnseenIn(run.Build().trace).layers, 1);
}

TEST(Unseen, IsNothingInAProgramThatHidesNothing) {
  EXPECT_FALSE(UnseenIn(TwoLayers().Build().trace).Any());
  EXPECT_EQ(UnseenIn(TwoLayers().Build().trace).layers, 0);
}

TEST(Unseen, BelongsToTheCoverageOfThePlainRun) {
  Evidence evidence;
  evidence.Add(kPlain, TwoLayers().Process("graph_replays", "40").Build());
  EXPECT_EQ(CoverageOf(evidence).unseen.graph_replays, 40);
}

}  // namespace
}  // namespace dlcheck
