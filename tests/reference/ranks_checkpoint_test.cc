// Checkpoints that ranks write together, and how they go on from them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "reference/checkpoint/durable_file.h"
#include "reference/training/shared_checkpoint.h"
#include "tests/reference/ranks_runs.h"

namespace dlcheck::reference {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// A folder of checkpoints that is not there yet.
std::string FreshFolder(const std::string& name) {
  std::string path = testing::TempDir() + "ranks_" + name + "_" + std::to_string(getpid());
  for (const std::string& inner : NamesIn(path)) RemoveFolder(path + "/" + inner);
  RemoveFolder(path);
  return path;
}

// Stopped after some micro-batches, so within windows too; all that a step depends on is on.
Plan PlanToResume() {
  Plan plan = ShortPlan();
  Recipe& recipe = plan.recipe;
  recipe.dropout = 0.2;
  recipe.gradient_accumulation_steps = 3;
  recipe.batch_size = 150;
  recipe.drop_last = false;
  recipe.optimizer = "adamw";
  recipe.ema_decay = 0.9;
  recipe.autocast = "fp16";
  recipe.initial_scale = 1 << 24;
  return plan;
}

void ExpectToGoOnExactly(Plan plan, int64_t world, const std::vector<int64_t>& stops,
                         const std::string& what) {
  const std::vector<Trained> whole = TrainTogether(plan, world);
  for (const int64_t micro_batches : stops) {
    plan.recipe.checkpoints = FreshFolder("resumed");
    plan.recipe.stop_after = micro_batches;
    plan.recipe.resume = false;
    TrainTogether(plan, world);
    plan.recipe.stop_after = 0;
    plan.recipe.resume = true;
    const std::vector<Trained> resumed = TrainTogether(plan, world);
    for (size_t rank = 0; rank < resumed.size(); ++rank) {
      EXPECT_TRUE(AllEqual(resumed[rank].weights, whole[rank].weights))
          << what << ", " << world << " ranks, after " << micro_batches;
      EXPECT_EQ(resumed[rank].counters.metrics.back().loss,
                whole[rank].counters.metrics.back().loss)
          << what;
    }
  }
}

TEST(RanksThatAreThreads, GoOnFromACheckpointToTheSameBits) {
  for (const int64_t zero : {0, 1, 2, 3}) {
    Plan plan = PlanToResume();
    plan.recipe.zero_stage = zero;
    ExpectToGoOnExactly(plan, 2, {1, 8, 20}, "stage " + std::to_string(zero));
    ExpectToGoOnExactly(plan, 3, {8}, "stage " + std::to_string(zero));
  }
  Plan in_groups = PlanToResume();
  in_groups.recipe.shard_group = 2;
  for (const int64_t zero : {1, 3}) {
    in_groups.recipe.zero_stage = zero;
    ExpectToGoOnExactly(in_groups, 4, {8}, "groups, stage " + std::to_string(zero));
  }
  Plan with_statistics = ShortPlan("resnet");
  with_statistics.recipe.ema_decay = 0.9;
  with_statistics.recipe.ema_buffers = true;
  ExpectToGoOnExactly(with_statistics, 2, {4}, "statistics of norms");
  Plan tiny = ShortPlan();
  tiny.recipe.width = 1;
  for (const int64_t zero : {2, 3}) {
    tiny.recipe.zero_stage = zero;
    ExpectToGoOnExactly(tiny, 2, {4}, "a rank that keeps nothing");
  }
  Plan tied = GptPlan();
  tied.recipe.zero_stage = 3;
  tied.recipe.ema_decay = 0.9;
  tied.recipe.gradient_accumulation_steps = 2;
  ExpectToGoOnExactly(tied, 2, {3, 8}, "a parameter of two names");
}

TEST(RanksThatAreThreads, RefuseACheckpointOfOtherRanks) {
  Plan plan = ShortPlan();
  plan.recipe.checkpoints = FreshFolder("others");
  TrainTogether(plan, 2);
  plan.recipe.resume = true;
  EXPECT_THAT(ErrorOf(3, [&](const Ranks& ranks) { RunPlan(plan, {}, ranks); }),
              HasSubstr("nproc was '2' and is '3' now"));
  const auto elsewhere = [&](const Ranks& ranks) {
    Plan own = plan;
    if (!ranks.is_first()) own.recipe.checkpoints = FreshFolder("elsewhere");
    RunPlan(own, {}, ranks);
  };
  EXPECT_THAT(ErrorOf(2, elsewhere), StartsWith("rank 1 goes on from step 0, micro-batch 0, but"));
}

Manifest ManifestAt(int64_t step) {
  Manifest manifest;
  manifest.step = step;
  return manifest;
}

TEST(RanksThatAreThreads, SaveNothingWhereOneCannot) {
  const std::string path = FreshFolder("unsaved");
  RunThreadRanks(2, [&](const Ranks& ranks) {
    WriteTogether(ranks, CheckpointFolder(path), ManifestAt(6), {{"a", torch::ones(3)}});
  });
  std::vector<std::string> errors(2);
  RunThreadRanks(2, [&](const Ranks& ranks) {
    const CheckpointFolder folder(ranks.is_first() ? path : "/proc/nowhere");
    try {
      WriteTogether(ranks, folder, ManifestAt(7), {{"a", torch::ones(3)}});
    } catch (const SavingFailed& failure) {
      errors[static_cast<size_t>(ranks.rank())] = failure.what();
    }
  });
  EXPECT_THAT(errors[0], StartsWith("rank 1: "));
  EXPECT_EQ(errors[0], errors[1]);
  EXPECT_EQ(CheckpointFolder(path).List().size(), 1U);
  EXPECT_EQ(NamesIn(path).size(), 1U);
}

}  // namespace
}  // namespace dlcheck::reference
