#include "checks/signals/distributed/padded_evaluations.h"

#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"

namespace dlcheck {
namespace {

// A loader of 10 samples for two ranks, with 2 repeated; batches of it go into a forward pass.
RunBuilder Fetching(Event forward, const char* ranks = "2") {
  RunBuilder run;
  run.Attribute("loader", "test", "dealt_to", ranks)
      .Attribute("loader", "test", "samples", "10")
      .Attribute("loader", "test", "padding", "2")
      .Event(Event::kFetched, 0, "loader", "test")
      .Event(forward, 0, "module", "");
  return run;
}

TEST(PaddedEvaluations, AreThoseWhoseBatchesComeFromAShardedLoader) {
  const auto found = PaddedEvaluations::From(Fetching(Event::kEvaluationForward).Build());
  ASSERT_TRUE(found.ok()) << found.status();
  ASSERT_EQ(found->loaders.size(), 1U);
  EXPECT_EQ(found->loaders[0].samples, 10);
  EXPECT_EQ(found->loaders[0].padding, 2);
}

TEST(PaddedEvaluations, AreNotTraining) {
  EXPECT_FALSE(PaddedEvaluations::From(Fetching(Event::kForward).Build()).ok());
}

TEST(PaddedEvaluations, AreNotThoseOfOneRank) {
  EXPECT_FALSE(PaddedEvaluations::From(Fetching(Event::kEvaluationForward, "1").Build()).ok());
}

}  // namespace
}  // namespace dlcheck
