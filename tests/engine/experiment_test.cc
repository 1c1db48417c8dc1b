#include "checks/engine/experiment.h"

#include <gtest/gtest.h>

namespace dlcheck {
namespace {

TEST(Experiment, IsFoundAgainByItsWord) {
  for (const Experiment& experiment : {kPlain, kSameSeed, kOneBatch, kResumed, kZeroLr, kReplay}) {
    const std::string_view word = ExperimentName(experiment.name);
    EXPECT_FALSE(word.empty());
    EXPECT_EQ(ExperimentNamed(word), experiment.name) << word;
  }
  EXPECT_EQ(ExperimentNamed("no such thing"), std::nullopt);
}

TEST(Experiment, ComesAfterTheRunWhoseStateItNeeds) {
  EXPECT_EQ(RunBefore(kResumed), &kInterrupted);
  EXPECT_EQ(RunBefore(kSingleProcess), &kMultiProcess);
  EXPECT_EQ(RunBefore(kPlain), nullptr);
  EXPECT_EQ(RunBefore(kOneBatch), nullptr);
}

TEST(Experiment, IsDescribedInOnePhrase) {
  EXPECT_EQ(Describe(kOneBatch), "one_batch, 300 steps, Adam with learning rate 0.001");
  EXPECT_EQ(Describe(kResumed), "resumed after 32 steps, 32 steps");
  EXPECT_EQ(Describe(kSingleProcess), "single_process, 1 step");
  EXPECT_EQ(FolderName(kOneBatchFaster), "one_batch-1");
}

TEST(Experiment, IsTheSameAfterItWasARequest) {
  for (const Experiment& experiment : {kPlain, kSameSeed, kOneBatchFaster, kResumed, kTrials}) {
    const std::optional<Experiment> read = FromRequest(ToRequest(experiment));
    ASSERT_TRUE(read.has_value());
    EXPECT_EQ(Describe(*read), Describe(experiment));
    EXPECT_EQ(FolderName(*read), FolderName(experiment));
  }
}

TEST(Experiment, OfAnUnknownWordIsNone) {
  Request request;
  request.experiment = "no such thing";
  EXPECT_FALSE(FromRequest(request).has_value());
}

}  // namespace
}  // namespace dlcheck
