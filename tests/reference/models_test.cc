#include "reference/models/models.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "reference/models/losses.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using testing::Contains;
using testing::HasSubstr;

constexpr int64_t kTokens = 6;
constexpr int64_t kVocabulary = 11;

ModelOptions DigitsModel(const std::string& name) {
  return {.name = name, .sample_shape = {1, 8, 8}, .outputs = 10};
}

ModelOptions SmallGpt() {
  return {.name = "gpt",
          .width = 16,
          .depth = 2,
          .heads = 2,
          .context = kTokens,
          .vocabulary = kVocabulary};
}

std::vector<std::string> NamesOf(const Model& model) {
  return model.module->named_parameters().keys();
}

torch::Tensor ParameterOf(const Model& model, const std::string& name) {
  return model.module->named_parameters()[name];
}

std::string RefusalOf(const ModelOptions& options) {
  try {
    MakeModel(options);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "made";
}

TEST(Mlp, DrawsItsWeightsAsThreeLinearLayersDo) {
  torch::manual_seed(3);
  const torch::nn::Linear first(64, 64), second(64, 64), head(64, 10);
  torch::manual_seed(3);
  const Model model = MakeModel(DigitsModel("mlp"));
  EXPECT_THAT(NamesOf(model),
              testing::ElementsAre("trunk.1.weight", "trunk.1.bias", "trunk.3.weight",
                                   "trunk.3.bias", "head.weight", "head.bias"));
  EXPECT_TRUE(torch::equal(ParameterOf(model, "trunk.1.weight"), first->weight));
  EXPECT_TRUE(torch::equal(ParameterOf(model, "trunk.3.weight"), second->weight));
  EXPECT_TRUE(torch::equal(ParameterOf(model, "head.bias"), head->bias));
}

TEST(Mlp, IsAsWideAndDeepAsAsked) {
  ModelOptions options = DigitsModel("mlp");
  options.width = 5;
  options.depth = 3;
  const Model model = MakeModel(options);
  EXPECT_EQ(ParameterOf(model, "trunk.1.weight").sizes(), at::IntArrayRef({5, 64}));
  EXPECT_EQ(ParameterOf(model, "trunk.5.weight").sizes(), at::IntArrayRef({5, 5}));
  EXPECT_EQ(model.forward(torch::randn({2, 1, 8, 8})).sizes(), at::IntArrayRef({2, 10}));
}

TEST(Resnet, TakesImagesFromFourByFourPixelsOn) {
  for (const InputShape& shape : {InputShape{1, 4, 4}, InputShape{3, 28, 32}}) {
    const Model model =
        MakeModel({.name = "resnet", .sample_shape = shape, .outputs = 7, .depth = 2});
    EXPECT_EQ(model.forward(torch::randn({2, shape[0], shape[1], shape[2]})).sizes(),
              at::IntArrayRef({2, 7}));
  }
  EXPECT_THAT(RefusalOf({.name = "resnet", .sample_shape = {1, 3, 8}, .outputs = 2}),
              HasSubstr("4x4 pixels or more"));
  EXPECT_THAT(RefusalOf({.name = "resnet", .sample_shape = {64}, .outputs = 2}),
              HasSubstr("4x4 pixels or more"));
}

TEST(Resnet, AddsWhatCameIntoABlock) {
  torch::manual_seed(0);
  ModelOptions options = DigitsModel("resnet");
  const torch::Tensor x = torch::randn({4, 1, 8, 8});
  const Model model = MakeModel(options);
  torch::manual_seed(0);
  torch::randn({4, 1, 8, 8});
  options.shortcut_deviation = ShortcutDeviation::kNoIdentity;
  EXPECT_FALSE(torch::equal(model.forward(x), MakeModel(options).forward(x)));
}

TEST(Gpt, NamesItsPartsInEachVariant) {
  ModelOptions options = SmallGpt();
  EXPECT_THAT(
      NamesOf(MakeModel(options)),
      testing::IsSupersetOf(
          {"trunk.embedding.weight", "trunk.blocks.0.attention.qkv.weight",
           "trunk.blocks.1.attention.projection.weight", "trunk.blocks.0.attention_norm.bias",
           "trunk.blocks.1.mlp.expansion.weight", "trunk.norm.weight", "head.weight"}));
  options.norm = "rmsnorm";
  options.activation = "swiglu";
  options.position_embedding = "learned";
  const std::vector<std::string> names = NamesOf(MakeModel(options));
  EXPECT_THAT(names,
              testing::IsSupersetOf({"trunk.positions.weight", "trunk.blocks.0.mlp.gate.weight",
                                     "trunk.blocks.0.attention_norm.weight"}));
  EXPECT_THAT(names, testing::Not(Contains("trunk.blocks.0.attention_norm.bias")));
}

// The first position whose outputs change when the token at `changed` does.
int64_t FirstChanged(AttentionDeviation deviation, int64_t changed,
                     bool* itself_changes = nullptr) {
  ModelOptions options = SmallGpt();
  options.depth = 1;  // what a mask hides once, a second block can bring back
  options.attention_deviation = deviation;
  torch::manual_seed(1);
  const Model model = MakeModel(options);
  torch::Tensor tokens = torch::zeros({1, kTokens}, torch::kInt64);
  const torch::Tensor before = model.forward(tokens);
  tokens[0][changed] = 5;
  const torch::Tensor differs = model.forward(tokens).ne(before).any(-1)[0];
  if (itself_changes != nullptr) *itself_changes = differs[changed].item<bool>();
  return differs.nonzero()[0].item<int64_t>();
}

TEST(Gpt, SeesNothingOfWhatIsToCome) {
  for (int64_t changed = 0; changed < kTokens; ++changed) {
    EXPECT_EQ(FirstChanged(AttentionDeviation::kNone, changed), changed);
  }
}

TEST(Gpt, SeesWhatAWrongMaskShowsIt) {
  EXPECT_EQ(FirstChanged(AttentionDeviation::kSeesNextToken, 3), 2);
  EXPECT_EQ(FirstChanged(AttentionDeviation::kNoMask, 3), 0);
}

TEST(Gpt, HidesAPositionFromItselfIfToldSo) {
  torch::manual_seed(0);
  Attention hiding(AttentionOptions{8, 2, 2, 0, true, AttentionDeviation::kHidesItself});
  Attention plain(AttentionOptions{8, 2, 2});
  torch::Tensor x = torch::randn({1, 4, 8});
  for (Attention& attention : {std::ref(hiding), std::ref(plain)}) {
    const torch::Tensor before = attention->forward(x, {});
    torch::Tensor other = x.clone();
    other[0][3] += torch::ones({8});
    // The query of position 3 moves, its own key and value count only without the deviation.
    EXPECT_TRUE(torch::equal(attention->forward(other, {}).slice(1, 0, 3), before.slice(1, 0, 3)));
    EXPECT_TRUE(before.isfinite().all().item<bool>());
  }
  // With one key to see, the attention is that key's value, whatever the query is.
  torch::Tensor other = x.clone();
  other[0][1] = 100;
  EXPECT_TRUE(torch::allclose(hiding->forward(other, {})[0][1], hiding->forward(x, {})[0][1]));
  EXPECT_FALSE(torch::allclose(plain->forward(other, {})[0][1], plain->forward(x, {})[0][1]));
}

TEST(Rotation, LeavesProductsThatDependOnDistanceAlone) {
  torch::manual_seed(0);
  const Rotation rotation = RotationOf(8, 16, AttentionDeviation::kNone, torch::kCPU);
  const torch::Tensor query = torch::randn({1, 1, 1, 16}).expand({1, 1, 8, 16});
  const torch::Tensor key = torch::randn({1, 1, 1, 16}).expand({1, 1, 8, 16});
  const torch::Tensor products =
      Rotated(query, rotation)[0][0].matmul(Rotated(key, rotation)[0][0].t());
  for (const int64_t distance : {1, 4}) {
    const torch::Tensor diagonal = products.diagonal(distance);
    EXPECT_TRUE(torch::allclose(diagonal, diagonal[0].expand_as(diagonal), 1e-4, 1e-4)) << distance;
  }
  EXPECT_FALSE(torch::allclose(products[0][1], products[0][4]));
}

TEST(Gpt, TiesItsHeadToItsEmbedding) {
  const Model tied = MakeModel(SmallGpt());
  ASSERT_EQ(tied.tied.size(), 1u);
  EXPECT_TRUE(
      ParameterOf(tied, tied.tied[0].first).is_same(ParameterOf(tied, tied.tied[0].second)));
  ModelOptions options = SmallGpt();
  options.tie_embeddings = false;
  const Model untied = MakeModel(options);
  EXPECT_TRUE(untied.tied.empty());
  EXPECT_FALSE(torch::equal(ParameterOf(untied, "head.weight"),
                            ParameterOf(untied, "trunk.embedding.weight")));
}

TEST(Gpt, TiesByNameAloneIfToldSo) {
  ModelOptions options = SmallGpt();
  options.initialization = "default";
  options.tying_deviation = TyingDeviation::kHeadIsAClone;
  const Model model = MakeModel(options);
  const torch::Tensor head = ParameterOf(model, "head.weight");
  const torch::Tensor embedding = ParameterOf(model, "trunk.embedding.weight");
  EXPECT_EQ(model.tied.size(), 1u);
  EXPECT_TRUE(torch::equal(head, embedding));
  EXPECT_FALSE(head.is_same(embedding));
  EXPECT_TRUE(head.is_leaf() && head.requires_grad());
}

TEST(Gpt, GivesTheSameGradientsWhenItsBlocksAreComputedAgain) {
  ModelOptions options = SmallGpt();
  options.dropout = 0.3;
  const torch::Tensor tokens = torch::arange(2 * kTokens).remainder(kVocabulary).view({2, kTokens});
  std::vector<std::vector<torch::Tensor>> gradients;
  for (const bool again : {false, true}) {
    options.checkpoint_blocks = again;
    torch::manual_seed(5);
    const Model model = MakeModel(options);
    model.forward(tokens).square().mean().backward();
    std::vector<torch::Tensor>& seen = gradients.emplace_back();
    for (const torch::Tensor& parameter : model.module->parameters())
      seen.push_back(parameter.grad());
  }
  for (size_t i = 0; i < gradients[0].size(); ++i) {
    EXPECT_TRUE(torch::equal(gradients[0][i], gradients[1][i])) << i;
  }
}

// Each token is one more than the one before it, which is all that there is to learn.
TEST(Gpt, LearnsATextThatRepeats) {
  for (const char* positions : {"rotary", "learned"}) {
    torch::manual_seed(0);
    ModelOptions options = SmallGpt();
    options.initialization = "gpt2";
    options.position_embedding = positions;
    options.tie_embeddings = false;
    const Model model = MakeModel(options);
    torch::optim::Adam optimizer(model.module->parameters(), 3e-2);
    const torch::Tensor text = torch::arange(7 * kTokens).remainder(kVocabulary);
    const torch::Tensor x = text.view({7, kTokens}), y = (x + 1).remainder(kVocabulary);
    double loss = 0;
    for (int64_t step = 0; step < 60; ++step) {
      optimizer.zero_grad();
      const torch::Tensor mean = MeanLoss({}, model.forward(x), y);
      mean.backward();
      optimizer.step();
      loss = mean.item<double>();
    }
    EXPECT_LT(loss, 0.05) << positions;
  }
}

TEST(Gpt, RefusesMoreTokensThanItsContext) {
  const Model model = MakeModel(SmallGpt());
  EXPECT_THROW(model.forward(torch::zeros({1, kTokens + 1}, torch::kInt64)), UsageError);
}

TEST(MakeModel, RefusesWhatMakesNoSense) {
  const auto with = [](const std::function<void(ModelOptions&)>& change) {
    ModelOptions options = SmallGpt();
    change(options);
    return RefusalOf(options);
  };
  EXPECT_EQ(RefusalOf({.name = "cnn"}),
            "model is 'cnn'; expected: linear, mlp, resnet, vit, gpt, lstm or unet");
  EXPECT_EQ(with([](ModelOptions& o) { o.norm = "none"; }),
            "norm is 'none'; expected: layernorm or rmsnorm");
  EXPECT_THAT(with([](ModelOptions& o) { o.activation = "relu"; }), HasSubstr("gelu or swiglu"));
  EXPECT_THAT(with([](ModelOptions& o) { o.position_embedding = "sine"; }),
              HasSubstr("rotary or learned"));
  EXPECT_THAT(with([](ModelOptions& o) { o.context = 0; }),
              HasSubstr("a context and a vocabulary"));
  EXPECT_THAT(with([](ModelOptions& o) { o.heads = 3; }), HasSubstr("among 3 heads"));
  EXPECT_THAT(with([](ModelOptions& o) { o.heads = 16; }), HasSubstr("even width of each head"));
  EXPECT_THAT(with([](ModelOptions& o) { o.initialization = "xavjer"; }), HasSubstr("'xavier'"));
  EXPECT_THAT(with([](ModelOptions& o) { o.initialization = "zeros-head"; }),
              HasSubstr("not tied"));
  ModelOptions mlp = DigitsModel("mlp");
  mlp.checkpoint_blocks = true;
  EXPECT_THAT(RefusalOf(mlp), HasSubstr("gpt alone"));
}

TEST(MakeModel, PutsAFunctionBetweenTrunkAndHead) {
  for (ModelOptions options : {DigitsModel("mlp"), DigitsModel("resnet"), SmallGpt()}) {
    torch::Tensor seen;
    options.between = [&](const torch::Tensor& features) {
      seen = features;
      return torch::zeros_like(features);
    };
    const Model model = MakeModel(options);
    const torch::Tensor x = options.name == "gpt" ? torch::zeros({2, kTokens}, torch::kInt64)
                                                  : torch::randn({2, 1, 8, 8});
    const torch::Tensor outputs = model.forward(x);
    EXPECT_EQ(seen.size(-1), model.head->weight.size(1)) << options.name;
    EXPECT_TRUE(torch::equal(outputs[0], outputs[1])) << options.name;
  }
}

TEST(Initialization, DrawsWeightsByRule) {
  ModelOptions options = DigitsModel("mlp");
  options.width = 400;
  options.initialization = "kaiming";
  Model model = MakeModel(options);
  EXPECT_NEAR(ParameterOf(model, "trunk.3.weight").std().item<double>(), std::sqrt(2.0 / 400),
              1e-3);
  EXPECT_EQ(ParameterOf(model, "trunk.3.bias").abs().max().item<double>(), 0);
  options.initialization = "xavier";
  model = MakeModel(options);
  EXPECT_NEAR(ParameterOf(model, "trunk.3.weight").abs().max().item<double>(), std::sqrt(6.0 / 800),
              1e-5);
  options.initialization = "zeros-head";
  EXPECT_EQ(MakeModel(options).forward(torch::randn({2, 1, 8, 8})).abs().max().item<double>(), 0);
}

TEST(Initialization, ShrinksResidualProjectionsOfGpt2) {
  ModelOptions options = SmallGpt();
  options.width = 256;
  const Model model = MakeModel(options);
  EXPECT_NEAR(ParameterOf(model, "trunk.blocks.0.attention.qkv.weight").std().item<double>(), 0.02,
              2e-4);
  for (const char* branch : {"attention", "mlp"}) {
    const std::string name = std::string("trunk.blocks.1.") + branch + ".projection.weight";
    EXPECT_NEAR(ParameterOf(model, name).std().item<double>(), 0.02 / std::sqrt(4.0), 2e-4) << name;
  }
}

TEST(HeadBias, MakesTheFirstOutputsTheLabelPrior) {
  ModelOptions options = DigitsModel("mlp");
  options.initialization = "zeros-head";
  Model model = MakeModel(options);
  const torch::Tensor counts = torch::tensor({5, 1, 0, 2, 2, 2, 2, 2, 2, 2});
  SetHeadBias(model, LogPrior(counts));
  const torch::Tensor shares = model.forward(torch::randn({1, 1, 8, 8})).softmax(1)[0];
  EXPECT_TRUE(torch::allclose(shares, counts.clamp_min(1).to(torch::kFloat32) / 21));
  Model gpt = MakeModel(SmallGpt());
  EXPECT_THROW(SetHeadBias(gpt, torch::zeros({kVocabulary})), UsageError);
  Model hosted{gpt.module, gpt.forward};
  EXPECT_THROW(SetHeadBias(hosted, torch::zeros({kVocabulary})), UsageError);
}

}  // namespace
}  // namespace dlcheck::reference
