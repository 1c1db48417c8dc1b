#include "checks/signals/checkpoint/saved_point.h"

#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"
#include "tests/signals/signal_of.h"

namespace dlcheck {
namespace {

// Steps of one optimizer; `contents` is saved into `file` before each step listed.
struct SavedAt {
  int step;
  const char* file;
  const char* contents;
};

RunBuilder RunWithSaves(int steps, const std::vector<SavedAt>& saves) {
  RunBuilder run;
  for (int step = 0; step < steps; ++step) {
    for (const SavedAt& save : saves) {
      if (save.step != step) continue;
      run.Attribute("file", save.file, "contents", save.contents);
      run.Event(Event::kSaved, 0, "file", save.file);
    }
    run.Event(Event::kBackward).Event(Event::kStep, 0, "optimizer", "");
  }
  return run;
}

SavedPoint PointOf(const RunBuilder& run) {
  Evidence evidence;
  evidence.Add(kPlain, run.Build());
  return SignalOf<SavedPoint>(evidence);
}

TEST(SavedPoint, PrefersTheSaveThatHoldsTheOptimizer) {
  const SavedPoint point =
      PointOf(RunWithSaves(20, {{4, "weights.pt", "model"}, {8, "state.pt", "model optimizer"}}));
  EXPECT_EQ(point.step, 8);
  EXPECT_EQ(point.files, (std::set<std::string>{"state.pt", "weights.pt"}));
}

TEST(SavedPoint, EndsAtTheNextSaveOrAtTheEndOfTheRun) {
  EXPECT_EQ(PointOf(RunWithSaves(20, {{8, "a.pt", "model"}})).end, 20);
  EXPECT_EQ(PointOf(RunWithSaves(20, {{8, "a.pt", "model"}, {16, "b.pt", "model"}})).end, 16);
}

TEST(SavedPoint, CountsStepsThatTheScalerLeftOut) {
  RunBuilder run = RunWithSaves(10, {{8, "a.pt", "model"}});
  run.Event(Event::kSkipped, 0, "optimizer", "").Resume(11);
  EXPECT_EQ(PointOf(run.Event(Event::kBackward)).end, 11);
}

TEST(SavedPoint, IsNoneWhereTheModelIsSavedBehindTheLastStep) {
  RunBuilder run = RunWithSaves(10, {});
  run.Attribute("file", "end.pt", "contents", "model").Event(Event::kSaved, 0, "file", "end.pt");
  EXPECT_FALSE(SavedPoint::From(run.Build()).ok());
}

TEST(SavedPoint, IsNoneWhereOnlyTheOptimizerIsSaved) {
  EXPECT_FALSE(SavedPoint::From(RunWithSaves(10, {{4, "a.pt", "optimizer"}}).Build()).ok());
}

}  // namespace
}  // namespace dlcheck
