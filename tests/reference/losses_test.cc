// That values and gradients are PyTorch's is for the goldens; here is what PyTorch does not have:
// sums with their counts, means over samples, and refusals.
#include "reference/models/losses.h"

#include <gtest/gtest.h>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using Kind = LossOptions::Kind;
using Unit = LossOptions::Unit;

constexpr int64_t kClasses = 5;
constexpr Kind kKinds[] = {Kind::kCrossEntropy, Kind::kBce, Kind::kMse, Kind::kHuber};

// Outputs (7, 3, 5) with targets (7, 3), of which cross-entropy ignores some: samples of 3, 1, 0
// and more targets.
struct Tokens {
  torch::Tensor outputs, targets;
};

Tokens SomeTokens(bool with_ignored) {
  torch::manual_seed(0);
  Tokens tokens{torch::randn({7, 3, kClasses}, torch::kFloat64), torch::randint(kClasses, {7, 3})};
  if (!with_ignored) return tokens;
  tokens.targets[1].slice(0, 1).fill_(-100);
  tokens.targets[2].fill_(-100);
  tokens.targets[5][0] = -100;
  return tokens;
}

LossOptions Weighted() {
  LossOptions options;
  options.class_weights = torch::tensor({1.0, 2.0, 0.5, 3.0, 0.25}, torch::kFloat64);
  options.label_smoothing = 0.1;
  return options;
}

double MeanOf(const LossOptions& options, const Tokens& tokens) {
  return MeanLoss(options, tokens.outputs, tokens.targets).item<double>();
}

TEST(SumOfLoss, GivesTheMeanOfAllHoweverItIsParted) {
  std::vector<LossOptions> cases = {Weighted()};
  for (const Kind kind : kKinds) cases.push_back({.kind = kind});
  for (LossOptions options : cases) {
    const Tokens tokens = SomeTokens(options.kind == Kind::kCrossEntropy);
    for (const Unit unit : {Unit::kToken, Unit::kSample}) {
      options.unit = unit;
      double sum = 0, count = 0;
      for (const auto& [first, last] : {std::pair{0, 1}, {1, 3}, {3, 7}}) {
        const LossSum part = SumOfLoss(options, tokens.outputs.slice(0, first, last),
                                       tokens.targets.slice(0, first, last));
        sum += part.sum.item<double>();
        count += part.count;
      }
      EXPECT_NEAR(sum / count, MeanOf(options, tokens), 1e-12)
          << static_cast<int>(options.kind) << ' ' << static_cast<int>(unit);
    }
  }
}

TEST(SumOfLoss, CountsWhatCountOfSays) {
  for (LossOptions options : {LossOptions{}, Weighted()}) {
    for (const Unit unit : {Unit::kToken, Unit::kSample}) {
      options.unit = unit;
      const Tokens tokens = SomeTokens(true);
      EXPECT_EQ(SumOfLoss(options, tokens.outputs, tokens.targets).count,
                CountOf(options, tokens.targets, kClasses));
    }
  }
  EXPECT_EQ(CountOf({}, SomeTokens(true).targets, kClasses), 21 - 6);
  EXPECT_EQ(CountOf({.unit = Unit::kSample}, SomeTokens(true).targets, kClasses), 6);
  EXPECT_EQ(CountOf({.kind = Kind::kMse}, SomeTokens(false).targets, kClasses), 21 * kClasses);
}

TEST(MeanLoss, TakesEachSamplesOwnMeanFirst) {
  const Tokens tokens = SomeTokens(true);
  double sum = 0;
  for (const int64_t sample : {0, 1, 3, 4, 5, 6}) {  // the third has no target
    sum += MeanOf({}, {tokens.outputs[sample], tokens.targets[sample]});
  }
  EXPECT_NEAR(MeanOf({.unit = Unit::kSample}, tokens), sum / 6, 1e-12);
}

TEST(MeanLoss, IsNoNumberWithoutATarget) {
  const Tokens none{torch::zeros({2, kClasses}), torch::full({2}, -100)};
  EXPECT_TRUE(std::isnan(MeanOf({}, none)));
  EXPECT_EQ(SumOfLoss({}, none.outputs, none.targets).sum.item<double>(), 0);
}

TEST(MeanLoss, DeviatesAsToldAndOnlyThen) {
  const Tokens tokens = SomeTokens(true);
  LossOptions options;
  options.label_smoothing = 0.1;
  const double right = MeanOf(options, tokens);
  options.deviation = LossDeviation::kSmoothingSwapped;
  EXPECT_GT(std::abs(MeanOf(options, tokens) - right), 1e-3);
  options.deviation = LossDeviation::kIgnoredCounted;
  EXPECT_NEAR(MeanOf(options, tokens), right * 15 / 21, 1e-12);
  options.deviation = LossDeviation::kTokensInsteadOfSamples;
  options.unit = Unit::kSample;
  EXPECT_EQ(MeanOf(options, tokens), right);
}

TEST(MeanLoss, MakesClassNumbersOneHot) {
  const Tokens tokens = SomeTokens(false);
  const torch::Tensor dense = torch::one_hot(tokens.targets, kClasses).to(torch::kFloat64);
  for (const Kind kind : {Kind::kBce, Kind::kMse, Kind::kHuber}) {
    EXPECT_EQ(MeanOf({.kind = kind}, tokens), MeanOf({.kind = kind}, {tokens.outputs, dense}));
  }
}

TEST(MeanLoss, WidensOutputsOfFewBits) {
  const Tokens tokens = SomeTokens(true);
  const torch::Tensor narrow = tokens.outputs.to(torch::kBFloat16);
  const torch::Tensor loss = MeanLoss({}, narrow, tokens.targets);
  EXPECT_EQ(loss.scalar_type(), torch::kFloat32);
  EXPECT_TRUE(torch::equal(loss, MeanLoss({}, narrow.to(torch::kFloat32), tokens.targets)));
}

TEST(MeanLoss, RefusesChoicesOfCrossEntropyForOthers) {
  const Tokens tokens = SomeTokens(false);
  LossOptions options = Weighted();
  options.kind = Kind::kMse;
  EXPECT_THROW(MeanOf(options, tokens), UsageError);
  EXPECT_THROW(SumOfLoss(options, tokens.outputs, tokens.targets), UsageError);
}

}  // namespace
}  // namespace dlcheck::reference
