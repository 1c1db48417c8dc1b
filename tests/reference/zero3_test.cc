// ZeRO 3: parameters that are there only while something reads them, and runs that do not notice.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "reference/distributed/ddp/trained_parameters.h"
#include "reference/distributed/zero/block_order.h"
#include "reference/distributed/zero/model_blocks.h"
#include "reference/distributed/zero/sharded_gradients.h"
#include "reference/distributed/zero/sharded_parameters.h"
#include "reference/training/memory_report.h"
#include "tests/reference/ranks_runs.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;
using testing::ElementsAre;
using testing::HasSubstr;

// Names of the parameters of each block, one text a block.
std::vector<std::string> NamesByBlock(const nn::Module& module) {
  const auto trained = TrainedParameters(module);
  const std::vector<int64_t> blocks = BlocksOf(module, trained);
  std::vector<std::string> names;
  for (size_t i = 0; i < trained.size(); ++i) {
    names.resize(std::max(names.size(), static_cast<size_t>(blocks[i]) + 1));
    std::string& of_block = names[static_cast<size_t>(blocks[i])];
    of_block += (of_block.empty() ? "" : " ") + trained[i].first;
  }
  return names;
}

TEST(ModelBlocks, AreTheElementsOfListsAndWhatStandsBesideThem) {
  ModelOptions options;
  options.sample_shape = {1, 8, 8};
  options.outputs = 10;
  EXPECT_THAT(NamesByBlock(*MakeModel(options).module),
              ElementsAre("trunk.1.weight trunk.1.bias", "trunk.3.weight trunk.3.bias",
                          "head.weight head.bias"));
  options.name = "resnet";
  EXPECT_EQ(NamesByBlock(*MakeModel(options).module).size(), 5U);  // stem and its norm, 2, head
  options.name = "gpt";
  options.context = 8;
  options.vocabulary = 16;
  const std::vector<std::string> of_gpt = NamesByBlock(*MakeModel(options).module);
  EXPECT_EQ(of_gpt.size(), 6U);  // the embedding, which is the head too, 4, the last norm
  EXPECT_EQ(of_gpt.front(), "trunk.embedding.weight");
}

TEST(ModelBlocks, AreChildrenWhereThereIsNoListAndTheWholeWhereThereIsNoChild) {
  struct Alone : nn::Module {
    Alone() { register_parameter("a", torch::ones(2)), register_parameter("b", torch::ones(3)); }
  };
  struct Two : nn::Module {
    Two() {
      register_parameter("own", torch::ones(1));
      register_module("one", std::make_shared<Alone>());
      register_module("other", std::make_shared<Alone>());
    }
  };
  EXPECT_THAT(NamesByBlock(*std::make_shared<Alone>()), ElementsAre("a b"));
  EXPECT_THAT(NamesByBlock(*std::make_shared<Two>()),
              ElementsAre("own", "one.a one.b", "other.a other.b"));
}

constexpr int64_t kWidth = 64;

nn::Sequential Stack(int64_t layers) {
  torch::manual_seed(0);
  nn::Sequential stack;
  for (int64_t i = 0; i < layers; ++i) stack->push_back(nn::Linear(kWidth, kWidth));
  return stack;
}

Shards ShardsOf(const Ranks& ranks, const nn::Module& module) {
  const auto trained = TrainedParameters(module);
  return {ranks, trained, BlocksOf(module, trained)};
}

// Which layers of a stack have their parameters.
std::vector<bool> AreThere(const nn::Sequential& stack) {
  std::vector<bool> there;
  for (const auto& layer : *stack) {
    there.push_back(layer.ptr()->as<nn::Linear>()->weight.storage().nbytes() > 0);
  }
  return there;
}

TEST(BlockOrder, GuessesWhatCameNextInAPassThatBeganAlike) {
  BlockOrder order;
  const auto pass = [&](const std::vector<size_t>& blocks) {
    std::vector<int> guesses;  // -1 for none
    order.Begin();
    for (const size_t block : blocks) {
      const std::optional<size_t> guess = order.After(block);
      guesses.push_back(guess ? static_cast<int>(*guess) : -1);
    }
    order.End();
    return guesses;
  };
  EXPECT_THAT(pass({0, 1, 2, 0}), ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(pass({2, 1}), ElementsAre(-1, -1));
  EXPECT_THAT(pass({0, 1, 2, 0}), ElementsAre(1, 2, 0, -1));
  EXPECT_THAT(pass({2, 1, 0}), ElementsAre(1, -1, -1));
  EXPECT_THAT(pass({0, 2, 1}), ElementsAre(1, -1, -1));
  EXPECT_THAT(pass({0, 2, 1}), ElementsAre(2, 1, -1));
}

TEST(ShardedParameters, AreThereOnlyWhileTheirBlockIsInUse) {
  RunThreadRanks(2, [](const Ranks& ranks) {
    const nn::Sequential stack = Stack(3);
    const nn::Sequential plain = Stack(3);
    const Shards shards = ShardsOf(ranks, *stack);
    ShardedParameters sharded(shards, /*stay_whole=*/false);
    EXPECT_THAT(AreThere(stack), ElementsAre(false, false, false));
    torch::Tensor x = torch::ones({2, kWidth}).requires_grad_();
    std::vector<std::vector<bool>> in_forward, in_backward;
    sharded.During([&] {
      for (const auto& layer : *stack) {
        x = layer.ptr()->as<nn::Linear>()->forward(x);
        x.register_hook([&](const torch::Tensor&) { in_backward.push_back(AreThere(stack)); });
        in_forward.push_back(AreThere(stack));
      }
    });
    EXPECT_THAT(in_forward,
                ElementsAre(ElementsAre(true, false, false), ElementsAre(false, true, false),
                            ElementsAre(false, false, true)));
    EXPECT_THAT(AreThere(stack), ElementsAre(false, false, false));
    sharded.During([&] { x.sum().backward(); });
    EXPECT_THAT(in_backward,
                ElementsAre(ElementsAre(false, false, false), ElementsAre(false, false, true),
                            ElementsAre(false, true, false)));
    EXPECT_THAT(AreThere(stack), ElementsAre(false, false, false));
    torch::Tensor expected = torch::ones({2, kWidth});
    for (const auto& layer : *plain) expected = layer.ptr()->as<nn::Linear>()->forward(expected);
    expected.sum().backward();
    EXPECT_TRUE(torch::equal(x, expected));
    for (size_t i = 0; i < stack->parameters().size(); ++i) {
      EXPECT_TRUE(torch::equal(stack->parameters()[i].grad(), plain->parameters()[i].grad()));
    }
  });
}

TEST(ShardedParameters, TakeTheMemoryOfABlockAndNotOfTheModel) {
  constexpr int64_t kLayers = 16;
  RunThreadRanks(2, [](const Ranks& ranks) {
    const nn::Sequential stack = Stack(kLayers);
    const Shards shards = ShardsOf(ranks, *stack);
    ShardedParameters sharded(shards, /*stay_whole=*/false);
    const torch::NoGradGuard no_grad;
    const MemoryReport memory;
    for (int pass = 0; pass < 2; ++pass) {
      sharded.During([&] { nn::Sequential(stack)->forward(torch::ones({1, kWidth})); });
    }
    // A block, what came of it and of the next from the ranks, and what is being cut out of that.
    constexpr int64_t kBlock = kWidth * (kWidth + 1) * static_cast<int64_t>(sizeof(float));
    EXPECT_LT(memory.peak_bytes(), 7 * kBlock);
    EXPECT_GT(memory.peak_bytes(), kBlock);
  });
}

// One operator that reads the parameters of two blocks, and one of the operators that it is made
// of, those of one.
TEST(ShardedParameters, AreThereTogetherWhereOneOperatorReadsThem) {
  RunThreadRanks(2, [](const Ranks& ranks) {
    const nn::Sequential stack = Stack(2);
    const std::vector<torch::Tensor> weights = stack->parameters();
    const torch::Tensor expected = at::linalg_multi_dot({weights[0], weights[2], weights[0]});
    const Shards shards = ShardsOf(ranks, *stack);
    ShardedParameters sharded(shards, /*stay_whole=*/false);
    torch::Tensor found;
    sharded.During([&] { found = at::linalg_multi_dot({weights[0], weights[2], weights[0]}); });
    EXPECT_TRUE(torch::equal(found, expected));
  });
}

TEST(ShardedParameters, AreThoseOfTheLastStepAndAGraphFromBeforeIsRefused) {
  RunThreadRanks(2, [](const Ranks& ranks) {
    const nn::Sequential stack = Stack(2);
    const Shards shards = ShardsOf(ranks, *stack);
    ShardedParameters sharded(shards, /*stay_whole=*/false);
    torch::Tensor loss;
    sharded.During([&] { loss = nn::Sequential(stack)->forward(torch::ones({1, kWidth})).sum(); });
    for (const Shards::Part& part : shards.parts()) {
      const torch::NoGradGuard no_grad;
      part.own.fill_(static_cast<double>(ranks.rank() + 1));
    }
    sharded.Refresh();
    EXPECT_THROW(sharded.During([&] { loss.backward(); }), c10::Error);
    sharded.Gather();
    EXPECT_EQ(stack->parameters()[0].sum().item<double>(), 1.5 * kWidth * kWidth);
    EXPECT_EQ(stack->parameters()[1].sum().item<double>(), kWidth);  // on the first rank alone
  });
}

// What each rank is told where the ranks use the layers of a stack in these orders.
std::vector<std::string> ErrorsOf(const std::vector<std::vector<size_t>>& orders) {
  std::vector<std::string> errors(orders.size());
  RunThreadRanks(static_cast<int64_t>(orders.size()), [&](const Ranks& ranks) {
    const auto rank = static_cast<size_t>(ranks.rank());
    const nn::Sequential stack = Stack(2);
    const Shards shards = ShardsOf(ranks, *stack);
    ShardedParameters sharded(shards, /*stay_whole=*/false);
    try {
      sharded.During([&] {
        if (orders[rank].empty()) throw std::runtime_error("no luck");
        for (const size_t layer : orders[rank]) {
          stack->ptr(layer)->as<nn::Linear>()->forward(torch::ones({1, kWidth}));
        }
      });
    } catch (const c10::Error& error) {
      errors[rank] = error.what_without_backtrace();
    } catch (const std::exception& error) {
      errors[rank] = error.what();
    }
  });
  return errors;
}

TEST(ShardedParameters, EndAPassWithWhatACollectiveSays) {
  EXPECT_THAT(ErrorsOf({{0, 1}, {}}), ElementsAre("rank 1 is gone: its run ended", "no luck"));
  EXPECT_THAT(ErrorsOf({{0, 1}, {0, 1}}), ElementsAre("", ""));
}

// As long as each other, so that nothing else would tell.
TEST(ShardedParameters, RefuseBlocksThatRanksUseInOtherOrders) {
  EXPECT_THAT(ErrorsOf({{0, 1}, {1, 0}}),
              ElementsAre(HasSubstr("rank 1 uses another part of the model"),
                          HasSubstr("rank 0 uses another part of the model")));
}

TEST(ShardedParameters, RefuseMemoryThatIsAnothersToo) {
  const auto shard = [](const Ranks& ranks) {
    const nn::Sequential stack = Stack(1);
    const auto layer = stack->ptr(0)->as<nn::Linear>();
    layer->bias.set_data(layer->weight.detach()[0]);
    const Shards shards = ShardsOf(ranks, *stack);
    ShardedParameters(shards, /*stay_whole=*/false);
  };
  EXPECT_THAT(ErrorOf(2, shard),
              HasSubstr("parameter '0.bias' shares its memory with another tensor"));
}

void ExpectTheBitsOf(int64_t zero, Plan plan, const std::vector<int64_t>& worlds,
                     const std::string& what) {
  for (const int64_t world : worlds) {
    plan.recipe.zero_stage = zero;
    const Trained expected = TrainTogether(plan, world)[0];
    plan.recipe.zero_stage = 3;
    for (const Trained& rank : TrainTogether(plan, world)) {
      EXPECT_TRUE(AllEqual(rank.weights, expected.weights)) << what << ", " << world << " ranks";
      EXPECT_EQ(rank.counters.metrics.back().loss, expected.counters.metrics.back().loss) << what;
      EXPECT_EQ(rank.counters.skipped, expected.counters.skipped) << what;
    }
  }
}

TEST(Zero3, TrainsEveryModelToTheBitsOfReplicas) {
  std::map<std::string, Plan> plans;
  plans["gpt"] = GptPlan();
  plans["gpt"].recipe.ema_decay = 0.9;
  plans["gpt, windows, scaled, clipped"] = GptPlan();
  plans["gpt, windows, scaled, clipped"].recipe.gradient_accumulation_steps = 2;
  plans["gpt, windows, scaled, clipped"].recipe.autocast = "fp16";
  plans["gpt, windows, scaled, clipped"].recipe.initial_scale = 1 << 17;
  plans["gpt, windows, scaled, clipped"].recipe.gradient_clip_algorithm = "value";
  plans["gpt, windows, scaled, clipped"].recipe.gradient_clip_val = 1e-3;
  plans["gpt, not tied, learned positions"] = GptPlan();
  plans["gpt, not tied, learned positions"].recipe.tie_embeddings = false;
  plans["gpt, not tied, learned positions"].recipe.position_embedding = "learned";
  plans["gpt, checkpointed, bf16"] = GptPlan();
  plans["gpt, checkpointed, bf16"].recipe.activation_checkpointing = true;
  plans["gpt, checkpointed, bf16"].recipe.autocast = "bf16";
  plans["resnet, windows, averaged, buffers too"] = ShortPlan("resnet");
  plans["resnet, windows, averaged, buffers too"].recipe.gradient_accumulation_steps = 2;
  plans["resnet, windows, averaged, buffers too"].recipe.dropout = 0.2;
  plans["resnet, windows, averaged, buffers too"].recipe.ema_decay = 0.9;
  plans["resnet, windows, averaged, buffers too"].recipe.ema_buffers = true;
  plans["mlp of one unit"] = ShortPlan();
  plans["mlp of one unit"].recipe.width = 1;
  for (const auto& [name, plan] : plans) ExpectTheBitsOf(0, plan, {2, 3, 4}, name);
}

// The norm of stretches is added up in another order than that of replicas.
TEST(Zero3, ClipsByTheNormToTheBitsOfZero2) {
  for (Plan plan : {ShortPlan(), GptPlan()}) {
    plan.recipe.gradient_clip_algorithm = "norm";
    plan.recipe.gradient_clip_val = 0.5;
    ExpectTheBitsOf(2, plan, {2, 3, 4}, plan.recipe.model);
  }
}

TEST(Zero3, TrainsToTheSameBitsWhereTheModelIsWatched) {
  const Plan plan = [] {
    Plan averaged = ShortPlan();
    averaged.recipe.ema_decay = 0.9;
    averaged.recipe.zero_stage = 3;
    return averaged;
  }();
  const std::vector<torch::Tensor> expected = TrainTogether(plan, 2)[0].weights;
  RunThreadRanks(2, [&](const Ranks& ranks) {
    nn::Module* model = nullptr;
    Observer observer;
    std::vector<torch::Tensor> last;
    observer.model = [&](nn::Module& watched) { model = &watched; };
    observer.after_step = [&](bool) {
      last.clear();
      for (const torch::Tensor& weight : model->parameters()) last.push_back(weight.clone());
    };
    RunPlan(plan, observer, ranks);
    EXPECT_TRUE(AllEqual(last, expected));
  });
}

}  // namespace
}  // namespace dlcheck::reference
