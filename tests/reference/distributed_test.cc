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
#include "reference/distributed/meeting.h"
#include "reference/distributed/replicas.h"
#include "reference/distributed/sharded_gradients.h"
#include "reference/distributed/thread_ranks.h"
#include "reference/distributed/trained_parameters.h"
#include "reference/recipe/rejection.h"
#include "reference/training/shared_checkpoint.h"
#include "tests/reference/runs.h"

namespace dlcheck::reference {
namespace {

using testing::HasSubstr;
using testing::StartsWith;

struct Trained {
  std::vector<torch::Tensor> weights;
  Counters counters;
};

// What each rank ends with.
std::vector<Trained> TrainTogether(const Plan& plan, int64_t world) {
  std::vector<Trained> trained(static_cast<size_t>(world));
  RunThreadRanks(world, [&](const Ranks& ranks) {
    const Outcome outcome = RunPlan(plan, {}, ranks);
    trained[static_cast<size_t>(ranks.rank())] = {WeightsOf(outcome), outcome.counters};
  });
  return trained;
}

// Largest distance of a parameter, of its own norm.
double Distance(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    const double norm = b[i].norm().item<double>();
    largest = std::max(largest, (a[i] - b[i]).norm().item<double>() / (norm == 0 ? 1 : norm));
  }
  return largest;
}

Plan ShortPlan(const std::string& model = "mlp") {
  Plan plan = DigitsPlan();
  plan.recipe.model = model;
  plan.recipe.steps = 8;
  plan.recipe.evaluate_every = 4;
  return plan;
}

std::string ErrorOf(int64_t world, const std::function<void(const Ranks&)>& work) {
  try {
    RunThreadRanks(world, work);
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "";
}

// Nothing differs but the order in which float32 numbers are added.
TEST(RanksThatAreThreads, TrainAsOneProcessOnTheJoinedBatchDoes) {
  std::map<std::string, Plan> plans;
  plans["mlp"] = ShortPlan();
  plans["windows"] = ShortPlan();
  plans["windows"].recipe.accumulate = 3;
  plans["windows"].recipe.last_batch = "keep";
  plans["windows"].recipe.batch_size = 100;
  plans["adam, clipped, averaged"] = ShortPlan();
  plans["adam, clipped, averaged"].recipe.optimizer = "adamw";
  plans["adam, clipped, averaged"].recipe.clip = "norm";
  plans["adam, clipped, averaged"].recipe.clip_bound = 0.5;
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

// With two ranks every sum has one order.
TEST(Zero, TrainsToTheBitsOfReplicas) {
  std::map<std::string, Plan> plans;
  for (const char* optimizer : {"sgd", "adamw"}) {
    plans[optimizer] = ShortPlan();
    plans[optimizer].recipe.optimizer = optimizer;
    plans[optimizer].recipe.weight_decay = 0.1;
  }
  plans["windows"] = ShortPlan("resnet");
  plans["windows"].recipe.accumulate = 2;
  plans["windows"].recipe.ema_decay = 0.9;
  plans["bf16"] = ShortPlan();
  plans["bf16"].recipe.weights = "bf16";
  plans["bf16"].recipe.optimizer = "adam";
  plans["scaled"] = ShortPlan();
  plans["scaled"].recipe.autocast = "fp16";
  plans["scaled"].recipe.initial_scale = 1 << 24;
  for (auto& [name, plan] : plans) {
    for (const int64_t world : {2, 4}) {
      plan.recipe.zero = 0;
      const std::vector<Trained> replicas = TrainTogether(plan, world);
      for (const int64_t zero : {1, 2}) {
        plan.recipe.zero = zero;
        for (const Trained& rank : TrainTogether(plan, world)) {
          EXPECT_TRUE(AllEqual(rank.weights, replicas[0].weights))
              << name << ", " << world << " ranks, stage " << zero;
          EXPECT_EQ(rank.counters.skipped, replicas[0].counters.skipped);
        }
      }
    }
  }
}

// Stretches are of 64 numbers or more, so that biases lie on the first rank alone, and of 40 ranks
// the last has nothing of any parameter.
TEST(Zero, TrainsAsOneProcessDoesWhereStretchesAreUnequalOrEmpty) {
  Plan plan = ShortPlan();
  plan.recipe.optimizer = "adamw";
  plan.recipe.clip = "norm";
  plan.recipe.clip_bound = 0.5;
  for (const char* norm : {"1", "2", "inf"}) {
    plan.recipe.clip_norm = norm;
    plan.recipe.zero = 0;
    const Outcome alone = RunPlan(plan, {});
    for (const int64_t world : {3, 40}) {
      for (const int64_t zero : {1, 2}) {
        plan.recipe.zero = zero;
        for (const Trained& rank : TrainTogether(plan, world)) {
          EXPECT_LE(Distance(rank.weights, WeightsOf(alone)), 1e-5) << norm << " " << world;
        }
      }
    }
  }
}

TEST(Zero, LeavesAStepOutOnAllRanksWhereOneFoundAnInfinity) {
  for (const bool one_overflows : {false, true}) {
    std::vector<double> scales(2), weights(2);
    RunThreadRanks(2, [&](const Ranks& ranks) {
      LossScaler::Options options;
      options.initial_scale = 8;
      options.agree = [&](double found) { return ranks.Largest(found); };
      LossScaler scaler(options);
      const torch::Tensor weight = torch::ones(3).requires_grad_();
      Optimizer optimizer({}, {{"all", 0.1, 0, {{"weight", weight}}}});
      const double infinite = one_overflows && ranks.rank() == 1 ? INFINITY : 1;
      scaler.Scale((weight * infinite).sum()).backward();
      scaler.Step(optimizer);
      scaler.Update();
      const auto rank = static_cast<size_t>(ranks.rank());
      scales[rank] = scaler.scale();
      weights[rank] = weight[0].item<double>();
    });
    EXPECT_EQ(scales, std::vector<double>(2, one_overflows ? 4 : 8));
    EXPECT_EQ(weights[0], weights[1]);
    EXPECT_EQ(weights[0] == 1, one_overflows);
  }
}

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
  recipe.accumulate = 3;
  recipe.batch_size = 150;
  recipe.last_batch = "keep";
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
  for (const int64_t zero : {0, 1, 2}) {
    Plan plan = PlanToResume();
    plan.recipe.zero = zero;
    ExpectToGoOnExactly(plan, 2, {1, 8, 20}, "stage " + std::to_string(zero));
    ExpectToGoOnExactly(plan, 3, {8}, "stage " + std::to_string(zero));
  }
  Plan with_statistics = ShortPlan("resnet");
  with_statistics.recipe.ema_decay = 0.9;
  with_statistics.recipe.ema_buffers = true;
  ExpectToGoOnExactly(with_statistics, 2, {4}, "statistics of norms");
  Plan tiny = ShortPlan();
  tiny.recipe.width = 1;
  tiny.recipe.zero = 2;
  ExpectToGoOnExactly(tiny, 2, {4}, "a rank that keeps nothing");
}

TEST(RanksThatAreThreads, RefuseACheckpointOfOtherRanks) {
  Plan plan = ShortPlan();
  plan.recipe.checkpoints = FreshFolder("others");
  TrainTogether(plan, 2);
  plan.recipe.resume = true;
  EXPECT_THAT(ErrorOf(3, [&](const Ranks& ranks) { RunPlan(plan, {}, ranks); }),
              HasSubstr("ranks was '2' and is '3' now"));
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

// Each of the buckets is summed by itself, and two numbers in one way.
TEST(Replicas, GiveTheSameBitsWhateverTheBuckets) {
  const auto gradients = [](int64_t bucket_bytes) {
    std::vector<torch::Tensor> found;
    RunThreadRanks(2, [&](const Ranks& ranks) {
      torch::manual_seed(0);
      torch::nn::Sequential model(torch::nn::Linear(16, 64), torch::nn::ReLU(),
                                  torch::nn::Linear(64, 4));
      Replicas replicas(ranks, *model,
                        {.first_bucket_bytes = bucket_bytes, .bucket_bytes = bucket_bytes});
      for (int64_t step = 0; step < 3; ++step) {
        model->zero_grad();
        torch::manual_seed(static_cast<uint64_t>(10 * step + ranks.rank()));
        replicas.BeforeForward(true);
        const torch::Tensor outputs = model->forward(torch::randn({8, 16}));
        replicas.BeforeBackward(true, outputs);
        outputs.square().mean().backward();
      }
      if (!ranks.is_first()) return;
      for (const torch::Tensor& parameter : model->parameters()) found.push_back(parameter.grad());
    });
    return found;
  };
  const std::vector<torch::Tensor> large = gradients(int64_t{25} << 20);
  EXPECT_TRUE(AllEqual(gradients(1024), large));
  EXPECT_TRUE(AllEqual(gradients(1), large));
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
        sharing = std::make_unique<ShardedGradients>(ranks, *model, shards, /*finds_unused=*/true);
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
std::map<std::string, torch::Tensor> StateOfProgram(const std::string& flags) {
  const std::string file = testing::TempDir() + "ranks_state";
  const std::string command = DLCHECK_BINARY_DIR
                              "/bin/dlcheck-train --data " DLCHECK_SOURCE_DIR
                              "/fixtures/digits.h5 --steps 8 --evaluate-every 4 " +
                              flags + " --save " + file + " > /dev/null";
  EXPECT_EQ(std::system(command.c_str()), 0) << command;
  std::ifstream saved(file, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(saved), {}};
  std::remove(file.c_str());
  return TensorsOf(file, bytes);
}

TEST(RanksThatAreProcesses, TrainToTheSameBitsAsThreads) {
  for (const char* model : {"mlp", "resnet"}) {
    const std::map<std::string, torch::Tensor> state =
        StateOfProgram(std::string("--ranks 2 --model ") + model);
    RunThreadRanks(2, [&](const Ranks& ranks) {
      const Outcome outcome = RunPlan(ShortPlan(model), {}, ranks);
      for (const auto& parameter : outcome.model.module->named_parameters()) {
        EXPECT_TRUE(torch::equal(parameter.value(), state.at("model/" + parameter.key())))
            << model << " " << parameter.key();
      }
    });
  }
}

TEST(RanksThatAreProcesses, SaveOneFileAsARunThatIsAloneDoes) {
  for (const char* flags : {"--optimizer adamw", "--weights bf16 --model resnet"}) {
    const std::string common = std::string(flags) + " --ranks 2 --zero ";
    const std::map<std::string, torch::Tensor> expected = StateOfProgram(common + "0");
    for (const char* zero : {"1", "2"}) {
      const std::map<std::string, torch::Tensor> found = StateOfProgram(common + zero);
      ASSERT_EQ(found.size(), expected.size()) << flags;
      for (const auto& [name, tensor] : expected) {
        EXPECT_TRUE(torch::equal(found.at(name), tensor)) << name << " " << flags << " " << zero;
      }
    }
  }
}

TEST(Meeting, NamesTheRankThatDoesNotCome) {
  Turns turns(2);
  Meeting meeting(2, std::chrono::milliseconds(50), turns);
  turns.Begin(0);
  try {
    meeting.Meet(0, "a call", {}, [](const auto&) { return Meeting::Tensors(); });
    FAIL() << "nobody else was there";
  } catch (const c10::Error& error) {
    EXPECT_STREQ(error.what_without_backtrace(), "rank 1 did not come");
  }
  turns.End(0);
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
