// Ranks that share out within groups, each of which keeps all of it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/distributed/zero/shard_groups.h"
#include "tests/reference/ranks_runs.h"

namespace dlcheck::reference {
namespace {

using testing::ElementsAre;

// What all ranks of a group say, as one text, by rank.
std::vector<std::string> Joined(int64_t world, int64_t size,
                                const std::function<Ranks(const ShardGroups&)>& which) {
  std::vector<std::string> joined(static_cast<size_t>(world));
  RunThreadRanks(world, [&](const Ranks& ranks) {
    const ShardGroups groups = ShardGroupsOf(ranks, size);
    for (const std::string& text : which(groups).Texts(std::to_string(ranks.rank()))) {
      joined[static_cast<size_t>(ranks.rank())] += text;
    }
  });
  return joined;
}

TEST(ShardGroups, AreRanksNextToEachOtherAndThoseOfTheSamePlaceInEach) {
  const auto within = [](const ShardGroups& groups) { return groups.within; };
  const auto across = [](const ShardGroups& groups) { return groups.across; };
  EXPECT_THAT(Joined(6, 2, within), ElementsAre("01", "01", "23", "23", "45", "45"));
  EXPECT_THAT(Joined(6, 2, across), ElementsAre("024", "135", "024", "135", "024", "135"));
  EXPECT_THAT(Joined(3, 0, within), ElementsAre("012", "012", "012"));
  EXPECT_THAT(Joined(3, 3, across), ElementsAre("0", "1", "2"));
}

TEST(ShardGroups, AreRefusedWhereTheRanksAreNoMultiple) {
  EXPECT_EQ(ErrorOf(4, [](const Ranks& ranks) { ShardGroupsOf(ranks, 3); }),
            "shard-group is 3, but 4 ranks are no multiple of it");
  EXPECT_EQ(ErrorOf(2, [](const Ranks& ranks) { ShardGroupsOf(ranks, 4); }),
            "shard-group is 4, but 2 ranks are no multiple of it");
}

Plan PlanOf(const std::string& model, int64_t zero, int64_t size) {
  Plan plan = model == "gpt" ? GptPlan() : ShortPlan(model);
  plan.recipe.ema_decay = 0.9;
  plan.recipe.zero_stage = zero;
  plan.recipe.shard_group = size;
  return plan;
}

// All ranks sum the gradients together, and share out the optimizer alone.
TEST(ShardGroups, TrainToTheBitsOfReplicasWhereGradientsStayWhole) {
  for (const char* model : {"mlp", "gpt"}) {
    const std::vector<Trained> replicas = TrainTogether(PlanOf(model, 0, 0), 4);
    for (const Trained& rank : TrainTogether(PlanOf(model, 1, 2), 4)) {
      EXPECT_TRUE(AllEqual(rank.weights, replicas[0].weights)) << model;
    }
  }
}

// (a + b) + (c + d) is another sum of float32 than ((a + b) + c) + d.
TEST(ShardGroups, TrainAsOneGroupDoesButForTheOrderOfSums) {
  for (const char* model : {"mlp", "gpt"}) {
    for (const int64_t zero : {2, 3}) {
      const std::vector<Trained> one = TrainTogether(PlanOf(model, zero, 0), 4);
      const std::vector<Trained> two = TrainTogether(PlanOf(model, zero, 2), 4);
      EXPECT_LE(Distance(two[0].weights, one[0].weights), 1e-5) << model << zero;
      for (const Trained& rank : two) EXPECT_TRUE(AllEqual(rank.weights, two[0].weights));
    }
    EXPECT_TRUE(AllEqual(TrainTogether(PlanOf(model, 2, 2), 6)[5].weights,
                         TrainTogether(PlanOf(model, 3, 2), 6)[0].weights));
  }
}

TEST(ShardGroups, ClipByTheNormOfOneGroup) {
  Plan plan = ShortPlan();
  plan.recipe.gradient_clip_algorithm = "norm";
  plan.recipe.gradient_clip_val = 0.05;
  const std::vector<Trained> replicas = TrainTogether(plan, 4);
  plan.recipe.zero_stage = 3;
  plan.recipe.shard_group = 2;
  EXPECT_LE(Distance(TrainTogether(plan, 4)[3].weights, replicas[0].weights), 1e-5);
}

TEST(ShardGroups, KeepOnEachRankItsPartOfTheGroup) {
  RunThreadRanks(4, [](const Ranks& ranks) {
    const torch::Tensor parameter = torch::zeros({4 * 64}).requires_grad_();
    const Shards shards(ShardGroupsOf(ranks, 2).within, {{"p", parameter}});
    EXPECT_EQ(shards.parts()[0].own.numel(), 2 * 64);
  });
}

}  // namespace
}  // namespace dlcheck::reference
