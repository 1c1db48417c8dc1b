// Ranks that train together: against one process on the same batches, and against each other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>

#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/tensor_file.h"
#include "reference/distributed/ddp/replicas.h"
#include "reference/distributed/ddp/trained_parameters.h"
#include "reference/distributed/process_group/thread_ranks.h"
#include "reference/distributed/process_group/thread_rendezvous.h"
#include "reference/distributed/zero/sharded_gradients.h"
#include "reference/recipe/rejection.h"
#include "reference/training/shared_checkpoint.h"
#include "tests/reference/ranks_runs.h"

namespace dlcheck::reference {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

// Nothing differs but the order in which float32 numbers are added.
TEST(RanksThatAreThreads, TrainAsOneProcessOnTheJoinedBatchDoes) {
  std::map<std::string, Plan> plans;
  plans["mlp"] = ShortPlan();
  plans["windows"] = ShortPlan();
  plans["windows"].recipe.gradient_accumulation_steps = 3;
  plans["windows"].recipe.drop_last = false;
  plans["windows"].recipe.batch_size = 100;
  plans["adam, clipped, averaged"] = ShortPlan();
  plans["adam, clipped, averaged"].recipe.optimizer = "adamw";
  plans["adam, clipped, averaged"].recipe.gradient_clip_algorithm = "norm";
  plans["adam, clipped, averaged"].recipe.gradient_clip_val = 0.5;
  plans["adam, clipped, averaged"].recipe.ema_decay = 0.9;
  plans["weights of classes"] = ShortPlan();
  plans["weights of classes"].recipe.class_weights = "balanced";
  for (const auto& [name, plan] : plans) {
    const Outcome alone = RunPlan(plan, {});
    for (const int64_t world : {2, 3, 4}) {
      const std::vector<Trained> together = TrainTogether(plan, world);
      EXPECT_LE(Distance(together[0].weights, WeightsOf(alone)), 1e-6) << name << " " << world;
      for (const Trained& other : together) {
        EXPECT_TRUE(AllEqual(other.weights, together[0].weights)) << name << " " << world;
        EXPECT_EQ(other.counters.metrics.back().loss, together[0].counters.metrics.back().loss);
      }
      EXPECT_NEAR(together[0].counters.metrics.back().loss, alone.counters.metrics.back().loss,
                  1e-6);
    }
  }
}

TEST(RanksThatAreThreads, GiveTheSameBitsEachTime) {
  Plan plan = ShortPlan("gpt");
  plan.recipe.data.clear();
  plan.recipe.width = 32;
  plan.recipe.context = 16;
  plan.recipe.batch_size = 6;
  plan.recipe.dropout = 0.1;
  plan.recipe.evaluate_samples = 8;
  const std::vector<Trained> first = TrainTogether(plan, 3);
  EXPECT_TRUE(AllEqual(first[0].weights, first[2].weights));
  EXPECT_TRUE(AllEqual(first[0].weights, TrainTogether(plan, 3)[0].weights));
}

TEST(RanksThatAreThreads, DrawDropoutOfTheirOwn) {
  std::vector<torch::Tensor> drawn(2);
  RunThreadRanks(2, [&](const Ranks& ranks) {
    torch::manual_seed(static_cast<uint64_t>(ranks.rank()));
    ranks.Sum(0);
    drawn[static_cast<size_t>(ranks.rank())] = torch::rand({8});
    ranks.Sum(0);
  });
  for (uint64_t rank : {0, 1}) {
    torch::manual_seed(rank);
    EXPECT_TRUE(torch::equal(drawn[rank], torch::rand({8})));
  }
}

TEST(RanksThatAreThreads, GetTheStatisticsOfNormsFromTheFirst) {
  const std::vector<Trained> together = TrainTogether(ShortPlan("resnet"), 2);
  EXPECT_TRUE(AllEqual(together[0].weights, together[1].weights));
}

// Of the first of some ranks, after three steps of a small model.
std::vector<torch::Tensor> GradientsOf(int64_t world, int64_t bucket_bytes, bool shared = true) {
  std::vector<torch::Tensor> found;
  RunThreadRanks(world, [&](const Ranks& ranks) {
    torch::manual_seed(0);
    torch::nn::Sequential model(torch::nn::Linear(16, 64), torch::nn::ReLU(),
                                torch::nn::Linear(64, 4));
    Replicas replicas(ranks, *model,
                      {.first_bucket_bytes = bucket_bytes, .bucket_bytes = bucket_bytes});
    for (int64_t step = 0; step < 3; ++step) {
      model->zero_grad();
      torch::manual_seed(static_cast<uint64_t>(10 * step + ranks.rank()));
      replicas.BeforeForward(shared);
      const torch::Tensor outputs = model->forward(torch::randn({8, 16}));
      replicas.BeforeBackward(shared, outputs);
      outputs.square().mean().backward();
    }
    if (!ranks.is_first()) return;
    for (const torch::Tensor& weight : model->parameters()) found.push_back(weight.grad().clone());
  });
  return found;
}

// Each of the buckets is summed by itself, in the order of the ranks.
TEST(Replicas, GiveTheSameBitsWhateverTheBuckets) {
  for (const int64_t world : {2, 4}) {
    const std::vector<torch::Tensor> large = GradientsOf(world, int64_t{25} << 20);
    EXPECT_TRUE(AllEqual(GradientsOf(world, 1 << 20), large)) << world;
    EXPECT_TRUE(AllEqual(GradientsOf(world, 1024), large)) << world;
    EXPECT_TRUE(AllEqual(GradientsOf(world, 1), large)) << world;
  }
}

TEST(Replicas, GiveOtherBitsWhereABucketIsNotSummed) {
  EXPECT_FALSE(AllEqual(GradientsOf(2, 1024, /*shared=*/false), GradientsOf(2, 1024)));
}

// A layer that the outputs never come from has no gradient, as in one process.
TEST(GradientSharing, LeavesWhatTakesNoPartWithoutAGradient) {
  for (const bool is_sharded : {false, true}) {
    RunThreadRanks(2, [&](const Ranks& ranks) {
      torch::manual_seed(0);
      torch::nn::Sequential model(torch::nn::Linear(4, 3), torch::nn::Linear(4, 3));
      StartAlike(ranks, *model);
      const Shards shards(ranks, TrainedParameters(*model));
      std::unique_ptr<GradientSharing> sharing;
      if (is_sharded) {
        sharing =
            std::make_unique<ShardedGradients>(ShardGroupsOf(ranks, 0), *model, shards,
                                               ShardedGradients::Options{.finds_unused = true});
      } else {
        Replicas::Options options;
        options.finds_unused = true;
        sharing = std::make_unique<Replicas>(ranks, *model, options);
      }
      for (int step = 0; step < 3; ++step) {
        model->zero_grad();
        sharing->BeforeForward(true);
        const torch::Tensor outputs =
            model->as<torch::nn::Sequential>()->ptr(0)->as<torch::nn::Linear>()->forward(
                torch::ones({2, 4}));
        sharing->BeforeBackward(true, outputs);
        outputs.sum().backward();
        sharing->AfterBackward(true);
        for (const Shards::Part& part : shards.parts()) {
          const torch::Tensor& holder = is_sharded ? part.own : part.whole;
          const bool takes_part = part.name.rfind("0.", 0) == 0;
          EXPECT_EQ(holder.grad().defined(), takes_part) << part.name << " " << is_sharded;
        }
      }
    });
  }
}

TEST(Ranks, StartFromTheWeightsOfTheFirst) {
  std::vector<std::vector<torch::Tensor>> weights(2);
  RunThreadRanks(2, [&](const Ranks& ranks) {
    torch::manual_seed(static_cast<uint64_t>(ranks.rank()));
    torch::nn::Linear model(3, 2);
    StartAlike(ranks, *model);
    weights[static_cast<size_t>(ranks.rank())] = model->parameters();
  });
  EXPECT_TRUE(AllEqual(weights[0], weights[1]));
}

TEST(RanksThatAreThreads, NameTheOneThatCallsSomethingElse) {
  const std::string error = ErrorOf(
      3, [](const Ranks& ranks) { ranks.Sums(std::vector<double>(ranks.rank() == 1 ? 2 : 1)); });
  EXPECT_THAT(error, HasSubstr("rank 1 calls allreduce of [2] Double, but rank 0 calls"));
}

TEST(RanksThatAreThreads, NameTheOneThatIsGone) {
  const auto throwing = [](const Ranks& ranks) {
    if (ranks.rank() == 2) throw UsageError("no luck");
    ranks.Sum(1);
  };
  EXPECT_EQ(ErrorOf(3, throwing), "no luck");
  const auto leaving = [](const Ranks& ranks) {
    if (ranks.rank() != 1) ranks.Sum(1);
  };
  EXPECT_THAT(ErrorOf(2, leaving), HasSubstr("rank 1 is gone: its run ended"));
}

// The weights that dlcheck-train leaves in a file.
std::map<std::string, torch::Tensor> StateOfProgram(const std::string& flags,
                                                    const std::string& data = DLCHECK_SOURCE_DIR
                                                    "/fixtures/data/digits.h5") {
  const std::string file = testing::TempDir() + "ranks_state";
  const std::string command = DLCHECK_BINARY_DIR
                              "/bin/dlcheck-train --steps 8 --evaluate-every 4 --data " +
                              data + " " + flags + " --save " + file + " > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream saved(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(saved), {}};
  std::remove(file.c_str());
  return TensorsOf(file, bytes);
}

TEST(RanksThatAreProcesses, TrainToTheSameBitsAsThreads) {
  for (const char* model : {"mlp", "resnet"}) {
    const std::map<std::string, torch::Tensor> state =
        StateOfProgram(std::string("--nproc 2 --model ") + model);
    RunThreadRanks(2, [&](const Ranks& ranks) {
      const Outcome outcome = RunPlan(ShortPlan(model), {}, ranks);
      for (const auto& parameter : outcome.model.module->named_parameters()) {
        EXPECT_TRUE(torch::equal(parameter.value(), state.at("model/" + parameter.key())))
            << model << " " << parameter.key();
      }
    });
  }
}

// Of four ranks in groups of two no sum has more than two terms, so that it has but one order.
TEST(RanksThatAreProcesses, TrainToTheSameBitsAsThreadsHoweverTheyShare) {
  std::map<std::string, std::pair<int64_t, Plan>> plans;
  const auto plan_of = [&](const std::string& flags, int64_t world, const char* model) -> Recipe& {
    plans[flags] = {world, ShortPlan(model)};
    return plans[flags].second.recipe;
  };
  for (const int64_t zero : {2, 3}) {
    Recipe& recipe = plan_of("--zero-stage " + std::to_string(zero) + " --shard-group 2", 4, "mlp");
    recipe.zero_stage = zero;
    recipe.shard_group = 2;
  }
  plan_of("--model resnet --sync-batchnorm", 2, "resnet").sync_batchnorm = true;
  for (const int64_t zero : {0, 3}) {
    Recipe& recipe =
        plan_of("--compress-gradients bf16 --zero-stage " + std::to_string(zero), 2, "mlp");
    recipe.compress_gradients = "bf16";
    recipe.zero_stage = zero;
  }
  for (const auto& [flags, run] : plans) {
    const auto& [world, plan] = run;
    const auto state = StateOfProgram(flags + " --nproc " + std::to_string(world));
    RunThreadRanks(world, [&, &flags = flags, &plan = plan](const Ranks& ranks) {
      const Outcome outcome = RunPlan(plan, {}, ranks);
      if (outcome.sharded_parameters) outcome.sharded_parameters->Gather();
      for (const auto& parameter : outcome.model.module->named_parameters()) {
        EXPECT_TRUE(torch::equal(parameter.value(), state.at("model/" + parameter.key())))
            << flags << " " << parameter.key();
      }
    });
  }
}

void ExpectOneFile(const std::string& flags, const std::string& data) {
  const std::string common = flags + " --nproc 2 --zero-stage ";
  const std::map<std::string, torch::Tensor> expected = StateOfProgram(common + "0", data);
  for (const char* zero : {"1", "2", "3"}) {
    const std::map<std::string, torch::Tensor> found = StateOfProgram(common + zero, data);
    ASSERT_EQ(found.size(), expected.size()) << flags;
    for (const auto& [name, tensor] : expected) {
      EXPECT_TRUE(torch::equal(found.at(name), tensor)) << name << " " << flags << " " << zero;
    }
  }
}

TEST(RanksThatAreProcesses, SaveOneFileAsARunThatIsAloneDoes) {
  const std::string digits = DLCHECK_SOURCE_DIR "/fixtures/data/digits.h5";
  ExpectOneFile("--optimizer adamw", digits);
  ExpectOneFile("--weights bf16 --model resnet", digits);
  ExpectOneFile(
      "--model gpt --width 32 --depth 2 --context 16 --batch-size 4 --evaluate-samples 3 "
      "--dropout 0.1 --ema-decay 0.9 --activation-checkpointing",
      DLCHECK_BINARY_DIR "/share/dlcheck/fixtures/text.h5");
}

TEST(ThreadRendezvous, NamesTheRankThatDoesNotCome) {
  ThreadScheduler scheduler(2);
  ThreadRendezvous rendezvous(2, std::chrono::milliseconds(50), scheduler);
  scheduler.Begin(0);
  try {
    rendezvous.Meet(0, "a call", {}, [](const auto&) { return ThreadRendezvous::Tensors(); });
    FAIL() << "nobody else was there";
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(), "rank 1 did not come");
  }
  scheduler.End(0);
}

TEST(RanksThatAreThreads, NameTheOneWithAnotherRecipe) {
  const auto train = [](const Ranks& ranks) {
    Plan plan = ShortPlan();
    plan.recipe.lr = ranks.rank() == 2 ? 0.1 : 0.05;
    RunPlan(plan, {}, ranks);
  };
  EXPECT_EQ(ErrorOf(3, train), "rank 2 has lr 0.1, but rank 0 has lr 0.05");
  const auto read = [](const Ranks& ranks) {
    Plan plan = ShortPlan();
    if (ranks.rank() == 1) plan.recipe.data = DLCHECK_BINARY_DIR "/share/dlcheck/fixtures/text.h5";
    RunPlan(plan, {}, ranks);
  };
  EXPECT_THAT(ErrorOf(2, read), StartsWith("rank 1 has data of "));
}

}  // namespace
}  // namespace dlcheck::reference
