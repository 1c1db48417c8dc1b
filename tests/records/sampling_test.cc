#include "checks/records/sampling.h"

#include <gtest/gtest.h>

namespace dlcheck {
namespace {

TEST(Sampling, TakesTheFirst64StepsAndEightBlocksOfFourInEachDoubling) {
  for (int64_t start = 64; start <= int64_t{1} << 20; start *= 2) {
    int64_t sampled = 0, blocks = 0;
    for (int64_t step = start; step < 2 * start; ++step) {
      sampled += IsSampled(step);
      blocks += IsSampled(step) && !IsSampled(step + 1);
    }
    EXPECT_EQ(sampled, 32) << "from " << start;
    EXPECT_EQ(blocks, 8) << "from " << start;
  }
}

TEST(Sampling, NextIsTheFirstSampledStepAfter) {
  for (int64_t step = 0; step < 5000; ++step) {
    int64_t next = step + 1;
    while (!IsSampled(next)) ++next;
    EXPECT_EQ(NextSampled(step), next);
  }
}

TEST(Sampling, TakesDigestsOnlyAtSampledSteps) {
  for (int64_t step = 0; step < 1 << 16; ++step) {
    EXPECT_TRUE(!TakesDigest(step) || IsSampled(step)) << step;
  }
  EXPECT_TRUE(TakesDigest(0));
  EXPECT_TRUE(TakesDigest(4096));
  EXPECT_FALSE(TakesDigest(4097));
}

TEST(Sampling, TakesTheFirstEightEvaluationsAndPowersOfTwo) {
  int64_t taken = 0;
  for (int64_t number = 1; number <= 64; ++number) taken += IsSampledEvaluation(number);
  EXPECT_EQ(taken, 8 + 3);
  EXPECT_TRUE(IsSampledEvaluation(1024));
  EXPECT_FALSE(IsSampledEvaluation(1023));
}

}  // namespace
}  // namespace dlcheck
