#include "checks/engine/recording.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "checks/engine/run_builder.h"

namespace dlcheck {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Evidence Of(const Experiment& experiment, dlcheck::Run run) {
  Evidence evidence;
  evidence.Add(experiment, std::move(run));
  return evidence;
}

dlcheck::Run OneStep() { return RunBuilder().Event(Event::kStep).Build(); }

TEST(Recording, OfAWholeRunSaysNothing) {
  const Recording recording = RecordingOf(Of(kPlain, OneStep()));
  EXPECT_EQ(recording.wholeness, Wholeness::kWhole);
  EXPECT_FALSE(recording.empty);
  EXPECT_FALSE(recording.at_deadline);
  EXPECT_EQ(recording.rejected, "");
  EXPECT_THAT(recording.gaps, IsEmpty());
  EXPECT_THAT(recording.redirected, IsEmpty());
}

TEST(Recording, IsEmptyWithoutOneRecordOfThePlainRun) {
  EXPECT_TRUE(RecordingOf(Of(kPlain, RunBuilder().Build())).empty);
  EXPECT_FALSE(RecordingOf(Of(kSameSeed, RunBuilder().Build())).empty);
}

TEST(Recording, IsAsDamagedAsTheWorstRun) {
  dlcheck::Run damaged = OneStep();
  damaged.losses.damaged = {"block 2"};
  dlcheck::Run missing = OneStep();
  missing.losses.missing = {"block 3"};
  Evidence both = Of(kPlain, missing);
  EXPECT_EQ(RecordingOf(both).wholeness, Wholeness::kMissing);
  both.Add(kSameSeed, damaged);
  EXPECT_EQ(RecordingOf(both).wholeness, Wholeness::kDamaged);
}

TEST(Recording, TakesAnExperimentThatWasCutShortAsWhole) {
  dlcheck::Run cut_short = OneStep();
  cut_short.losses.missing = {"block 3"};
  EXPECT_EQ(RecordingOf(Of(kSameSeed, cut_short)).wholeness, Wholeness::kWhole);
}

TEST(Recording, NamesTheInputThatWasRefused) {
  const dlcheck::Run run = RunBuilder()
                               .Attribute("file", "data.h5", "cause", "no dataset x")
                               .Event(Event::kInputRejected, 0, "file", "data.h5")
                               .Build();
  EXPECT_EQ(RecordingOf(Of(kPlain, run)).rejected, "data.h5: no dataset x");
}

TEST(Recording, SaysWhichHookFailedInWhichRun) {
  const dlcheck::Run run =
      RunBuilder().Event(Event::kStep).Process("hook_failed/loss", "ValueError").Build();
  EXPECT_THAT(RecordingOf(Of(kPlain, run)).gaps,
              ElementsAre("recording of 'plain' is not complete: dlcheck's own hook 'loss' failed "
                          "and was switched off: ValueError"));
}

TEST(Recording, ListsTheCopiesOfAllExperimentsOnce) {
  dlcheck::Run noted_by_probe = RunBuilder().Process("redirected", "/b, /c").Build();
  AddRedirected({"/c", "/a"}, noted_by_probe.trace);
  Evidence evidence = Of(kSameSeed, noted_by_probe);
  evidence.Add(kTrials, RunBuilder().Process("redirected", "/b").Build());
  EXPECT_THAT(RecordingOf(evidence).redirected, ElementsAre("/a", "/b", "/c"));
}

}  // namespace
}  // namespace dlcheck
