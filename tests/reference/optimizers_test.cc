// Three steps of each rule against the formulas in optimizers.h, worked out here in double
// precision; the names of the state, and the groups. tests/pytorch_parity compares with Python's
// numbers.
#include "reference/optimization/optimizers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "reference/optimization/groups.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr double kGradients[] = {1.0, -0.5, 0.25};
// A few roundings of float32 around a weight of 1.
constexpr double kTolerance = 1e-6;

struct One {
  torch::Tensor weight = torch::ones({1}).requires_grad_();
  Optimizer optimizer;

  One(const Optimizer::Options& options, double lr, double weight_decay)
      : optimizer(options, {{"all", lr, weight_decay, {{"weight", weight}}}}) {}

  double StepWith(double gradient) {
    weight.mutable_grad() = torch::full({1}, gradient);
    optimizer.Step();
    return weight.item<double>();
  }
};

TEST(Optimizer, FollowsSgdWithMomentum) {
  One one({.rule = Optimizer::Rule::kSgd, .momentum = 0.9}, 0.1, 0.01);
  double weight = 1, buffer = 0;
  for (const double gradient : kGradients) {
    buffer = 0.9 * buffer + gradient + 0.01 * weight;
    weight -= 0.1 * buffer;
    EXPECT_NEAR(one.StepWith(gradient), weight, kTolerance);
  }
}

TEST(Optimizer, FollowsSgdWithoutMomentum) {
  One one({.rule = Optimizer::Rule::kSgd}, 0.5, 0);
  EXPECT_EQ(one.StepWith(1), 0.5);
  EXPECT_EQ(one.StepWith(1), 0);
  EXPECT_EQ(one.StepWith(-1), 0.5);
}

TEST(Optimizer, FollowsAdam) {
  One one({.rule = Optimizer::Rule::kAdam}, 0.1, 0.01);
  double weight = 1, first = 0, second = 0;
  for (int k = 1; k <= 3; ++k) {
    const double gradient = kGradients[k - 1] + 0.01 * weight;
    first = 0.9 * first + 0.1 * gradient;
    second = 0.999 * second + 0.001 * gradient * gradient;
    weight -= 0.1 / (1 - std::pow(0.9, k)) * first /
              (std::sqrt(second / (1 - std::pow(0.999, k))) + 1e-8);
    EXPECT_NEAR(one.StepWith(kGradients[k - 1]), weight, kTolerance);
  }
}

TEST(Optimizer, FollowsAdamW) {
  One one({.rule = Optimizer::Rule::kAdamW}, 0.1, 0.01);
  double weight = 1, first = 0, second = 0;
  for (int k = 1; k <= 3; ++k) {
    const double gradient = kGradients[k - 1];
    weight *= 1 - 0.1 * 0.01;
    first = 0.9 * first + 0.1 * gradient;
    second = 0.999 * second + 0.001 * gradient * gradient;
    weight -= 0.1 / (1 - std::pow(0.9, k)) * first /
              (std::sqrt(second / (1 - std::pow(0.999, k))) + 1e-8);
    EXPECT_NEAR(one.StepWith(gradient), weight, kTolerance);
  }
}

TEST(Optimizer, LeavesParametersWithoutAGradientAlone) {
  One one({.rule = Optimizer::Rule::kAdamW}, 0.1, 0.01);
  one.StepWith(1);
  const double weight = one.weight.item<double>();
  one.optimizer.ZeroGrad();
  EXPECT_FALSE(one.weight.grad().defined());
  one.optimizer.Step();
  EXPECT_EQ(one.weight.item<double>(), weight);
}

std::vector<std::string> StateNames(const Optimizer::Options& options, at::ScalarType type) {
  const torch::Tensor weight = torch::ones({2}, type).requires_grad_();
  Optimizer optimizer(options, {{"all", 0.1, 0, {{"w", weight}}}});
  std::vector<std::string> names;
  optimizer.VisitState([&](const std::string& name, torch::Tensor&) { names.push_back(name); });
  return names;
}

TEST(Optimizer, NamesItsStateByParameter) {
  using Rule = Optimizer::Rule;
  EXPECT_THAT(StateNames({.rule = Rule::kSgd}, at::kFloat), IsEmpty());
  EXPECT_THAT(StateNames({.rule = Rule::kSgd, .momentum = 0.9}, at::kFloat),
              ElementsAre("momentum/w"));
  EXPECT_THAT(StateNames({.rule = Rule::kAdam}, at::kFloat),
              ElementsAre("first/w", "second/w", "steps/w"));
  EXPECT_THAT(
      StateNames({.rule = Rule::kAdamW, .amsgrad = true, .master_weights = true}, at::kHalf),
      ElementsAre("first/w", "second/w", "largest/w", "steps/w", "master/w"));
  EXPECT_THAT(StateNames({.rule = Rule::kSgd, .master_weights = true}, at::kFloat), IsEmpty());
}

TEST(Optimizer, GoesOnFromAStateWrittenInPlace) {
  const Optimizer::Options options{.rule = Optimizer::Rule::kAdamW};
  One one(options, 0.1, 0.01), other(options, 0.1, 0.01);
  for (const double gradient : kGradients) one.StepWith(gradient);
  std::map<std::string, torch::Tensor> saved;
  one.optimizer.VisitState(
      [&](const std::string& name, torch::Tensor& state) { saved[name] = state.clone(); });
  other.optimizer.VisitState(
      [&](const std::string& name, torch::Tensor& state) { state.copy_(saved.at(name)); });
  other.weight.data().copy_(one.weight);
  EXPECT_EQ(other.StepWith(0.3), one.StepWith(0.3));
}

TEST(Optimizer, RefusesNesterovWithoutMomentum) {
  EXPECT_THROW(One({.nesterov = true}, 0.1, 0), UsageError);
}

// A matrix that stands under two names, as of a language model that reads and writes with the same.
struct Head : torch::nn::Module {
  explicit Head(const torch::Tensor& matrix) {
    register_parameter("weight", matrix);
    register_parameter("bias", torch::zeros({5}));
  }
};

struct Tied : torch::nn::Module {
  Tied() {
    embedding = register_module("embedding", torch::nn::Embedding(5, 4));
    register_module("norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({4})));
    register_module("head", std::make_shared<Head>(embedding->weight));
  }
  torch::nn::Embedding embedding = nullptr;
};

std::vector<std::string> NamesIn(const Optimizer::Group& group) {
  std::vector<std::string> names;
  for (const Optimizer::Parameter& parameter : group.parameters) names.push_back(parameter.name);
  return names;
}

GroupOptions Grouping(DecayRule decay = DecayRule::kNotVectors) {
  GroupOptions options;
  options.decay = decay;
  options.lr = 0.1;
  options.weight_decay = 0.01;
  options.is_optimized = [](const std::string&) { return true; };
  options.rate_factor = [](const std::string&) { return 1; };
  return options;
}

TEST(ParameterGroups, KeepNormsAndBiasesFromDecayAndTiedTensorsFromComingTwice) {
  const Tied model;
  const auto groups = ParameterGroups(model, Grouping());
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].weight_decay, 0.01);
  EXPECT_THAT(NamesIn(groups[0]), ElementsAre("embedding.weight"));
  EXPECT_EQ(groups[1].weight_decay, 0);
  EXPECT_THAT(NamesIn(groups[1]), UnorderedElementsAre("norm.weight", "norm.bias", "head.bias"));
}

TEST(ParameterGroups, AreOneIfAllDecay) {
  const auto groups = ParameterGroups(Tied(), Grouping(DecayRule::kAll));
  ASSERT_EQ(groups.size(), 1U);
  EXPECT_EQ(groups[0].weight_decay, 0.01);
  EXPECT_EQ(groups[0].parameters.size(), 4U);
}

TEST(ParameterGroups, LeaveOutWhatIsFrozenOrNotChosen) {
  Tied model;
  model.embedding->weight.requires_grad_(false);
  GroupOptions options = Grouping();
  options.is_optimized = [](const std::string& name) { return name != "head.bias"; };
  const auto groups = ParameterGroups(model, options);
  EXPECT_THAT(NamesIn(groups[0]), IsEmpty());
  EXPECT_THAT(NamesIn(groups[1]), UnorderedElementsAre("norm.weight", "norm.bias"));
}

TEST(ParameterGroups, GiveParametersWithAnotherRateGroupsOfTheirOwn) {
  GroupOptions options = Grouping();
  options.rate_factor = [](const std::string& name) { return name == "norm.bias" ? 0.5 : 1; };
  const auto groups = ParameterGroups(Tied(), options);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_THAT(NamesIn(groups[1]), UnorderedElementsAre("norm.weight", "head.bias"));
  EXPECT_THAT(NamesIn(groups[2]), ElementsAre("norm.bias"));
  EXPECT_EQ(groups[2].lr, 0.05);
  EXPECT_EQ(groups[2].weight_decay, 0);
}

TEST(ParameterGroups, GiveMuonTheMatricesOfHiddenLayersAndAdamwWhatIsLeft) {
  struct Net : torch::nn::Module {
    Net() {
      register_module("embedding", torch::nn::Embedding(5, 4));
      register_module("hidden", torch::nn::Linear(4, 6));
      register_module("image", torch::nn::Conv2d(1, 2, 3));
      head = register_module("head", torch::nn::Linear(6, 5));
    }
    torch::nn::Linear head = nullptr;
  };
  const Net model;
  GroupOptions options = Grouping();
  options.has_muon = true;
  options.lr_others = 0.003;
  options.head = model.head->weight;
  const auto groups = ParameterGroups(model, options);
  ASSERT_EQ(groups.size(), 3U);
  EXPECT_THAT(NamesIn(groups[2]), ElementsAre("hidden.weight"));
  EXPECT_FALSE(groups[2].rule);
  EXPECT_EQ(groups[2].lr, 0.1);
  EXPECT_EQ(groups[0].rule, Optimizer::Rule::kAdamW);
  EXPECT_EQ(groups[0].lr, 0.003);
  EXPECT_THAT(NamesIn(groups[0]),
              UnorderedElementsAre("embedding.weight", "image.weight", "head.weight"));
}

TEST(Optimizer, RefusesToOrthogonalizeWhatIsNoMatrix) {
  Optimizer::Options options;
  options.rule = Optimizer::Rule::kMuon;
  const Optimizer::Group group = {"all", 0.1, 0, {{"bias", torch::zeros({3})}}};
  EXPECT_THROW(Optimizer(options, {group}), UsageError);
}

TEST(Optimizer, ExchangesWeightsAndAveragesWithoutLosingABit) {
  Optimizer::Options options;
  options.rule = Optimizer::Rule::kScheduleFree;
  torch::Tensor weight = torch::arange(6, torch::kFloat).requires_grad_();
  Optimizer optimizer(options, {{"all", 0.1, 0, {{"weight", weight}}}});
  for (int step = 0; step < 3; ++step) {
    weight.mutable_grad() = torch::ones({6}) * (step + 1);
    optimizer.Step();
  }
  const torch::Tensor before = weight.detach().clone();
  optimizer.ExchangeAverages();
  EXPECT_FALSE(torch::equal(weight.detach(), before));
  optimizer.ExchangeAverages();
  EXPECT_TRUE(torch::equal(weight.detach(), before));
}

}  // namespace
}  // namespace dlcheck::reference
