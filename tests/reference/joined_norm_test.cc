// Batch norm over the rows of all ranks, against the plain one over the same rows in one process.
#include <gtest/gtest.h>

#include "reference/distributed/zero/joined_norm.h"
#include "tests/reference/ranks_runs.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;
using torch::Tensor;

constexpr int64_t kRows[] = {1, 5, 2};  // of each rank
constexpr int64_t kAllRows = 8;
constexpr int64_t kChannels = 3;

// Two passes of a norm: what comes out of the last one, its gradients and the running statistics.
struct Passed {
  Tensor y, dx, dweight, dbias;
  std::vector<Tensor> buffers;
};

using Norm = std::function<Tensor(nn::BatchNorm2dImpl& norm, const Tensor& x)>;

Passed Pass(const Norm& norm, const Tensor& x, const Tensor& slope) {
  nn::BatchNorm2d module(kChannels);
  module->to(x.scalar_type());
  {
    const torch::NoGradGuard no_grad;
    module->weight.copy_(torch::arange(1, kChannels + 1));
    module->bias.copy_(torch::arange(kChannels));
  }
  norm(*module, x.flip(2) * 3);
  const Tensor leaf = x.clone().requires_grad_();
  const Tensor y = norm(*module, leaf);
  (y * slope).sum().backward();
  return {y.detach(), leaf.grad(), module->weight.grad(), module->bias.grad(), module->buffers()};
}

// What the ranks have of it, joined: rows one after the other, gradients of weights added up.
Passed PassTogether(const Tensor& x, const Tensor& slope, bool own_gradients = false) {
  std::vector<Passed> of_ranks(std::size(kRows));
  RunThreadRanks(std::size(kRows), [&](const Ranks& ranks) {
    const auto place = static_cast<size_t>(ranks.rank());
    int64_t first = 0;
    for (size_t i = 0; i < place; ++i) first += kRows[i];
    const auto norm = [&](nn::BatchNorm2dImpl& module, const Tensor& rows) {
      return JoinedNorm(ranks, module, rows, own_gradients);
    };
    of_ranks[place] = Pass(norm, x.narrow(0, first, kRows[place]).contiguous(),
                           slope.narrow(0, first, kRows[place]).contiguous());
  });
  Passed joined = of_ranks[0];
  for (size_t i = 1; i < of_ranks.size(); ++i) {
    const Passed& next = of_ranks[i];
    joined.y = torch::cat({joined.y, next.y});
    joined.dx = torch::cat({joined.dx, next.dx});
    joined.dweight = joined.dweight + next.dweight;
    joined.dbias = joined.dbias + next.dbias;
    EXPECT_TRUE(AllEqual(joined.buffers, next.buffers));
  }
  return joined;
}

double DistanceOf(const Passed& a, const Passed& b) {
  std::vector<Tensor> ours = {a.y, a.dx, a.dweight, a.dbias},
                      theirs = {b.y, b.dx, b.dweight, b.dbias};
  for (size_t i = 0; i < a.buffers.size(); ++i) {
    ours.push_back(a.buffers[i].to(torch::kDouble));
    theirs.push_back(b.buffers[i].to(torch::kDouble));
  }
  return Distance(ours, theirs);
}

struct Data {
  explicit Data(at::ScalarType type) {
    torch::manual_seed(0);
    const auto options = torch::dtype(type);
    // Rows far apart, so that the mean of a rank is not that of all.
    x = torch::randn({kAllRows, kChannels, 4, 4}, options) +
        torch::arange(kAllRows, options).view({-1, 1, 1, 1});
    slope = torch::randn({kAllRows, kChannels, 4, 4}, options);
  }
  Tensor x, slope;
};

Passed PassAlone(const Data& data) {
  return Pass([](nn::BatchNorm2dImpl& module, const Tensor& x) { return module.forward(x); },
              data.x, data.slope);
}

TEST(JoinedNorm, IsThePlainOneOfAllRowsHoweverUnequalTheShares) {
  const Data exact(torch::kDouble), rounded(torch::kFloat);
  EXPECT_LE(DistanceOf(PassTogether(exact.x, exact.slope), PassAlone(exact)), 1e-13);
  EXPECT_LE(DistanceOf(PassTogether(rounded.x, rounded.slope), PassAlone(rounded)), 1e-5);
}

TEST(JoinedNorm, SendsNoGradientToOtherRowsOnlyWhereItIsWrong) {
  const Data exact(torch::kDouble);
  EXPECT_GT(
      DistanceOf(PassTogether(exact.x, exact.slope, /*own_gradients=*/true), PassAlone(exact)),
      1e-3);
}

TEST(JoinedNorm, GivesTheTypeThatItIsGiven) {
  const Data low(torch::kBFloat16);
  const Passed passed = PassTogether(low.x, low.slope);
  EXPECT_EQ(passed.y.scalar_type(), torch::kBFloat16);
  EXPECT_EQ(passed.dx.scalar_type(), torch::kBFloat16);
  EXPECT_LE((passed.y - PassAlone(low).y).abs().max().item<double>(), 0.1);
}

TEST(JoinedNorm, IsThePlainOneWhileItEvaluates) {
  RunThreadRanks(2, [](const Ranks& ranks) {
    nn::BatchNorm2d module(kChannels);
    module->eval();
    // One rank alone calls: no collective.
    if (!ranks.is_first()) return;
    const Tensor x = torch::randn({2, kChannels, 4, 4});
    EXPECT_TRUE(torch::equal(JoinedNorm(ranks, *module, x), module->forward(x)));
  });
}

// The parameters of both shards and replicas, and the statistics of an average besides.
TEST(JoinedNorm, TrainsAlikeWhateverIsSharedOut) {
  Plan plan = ShortPlan("resnet");
  plan.recipe.sync_batchnorm = true;
  plan.recipe.gradient_accumulation_steps = 2;
  plan.recipe.ema_decay = 0.9;
  const std::vector<Trained> replicas = TrainTogether(plan, 3);
  EXPECT_TRUE(AllEqual(replicas[0].weights, replicas[2].weights));
  for (const int64_t zero : {1, 2, 3}) {
    plan.recipe.zero_stage = zero;
    EXPECT_TRUE(AllEqual(TrainTogether(plan, 3)[1].weights, replicas[0].weights)) << zero;
  }
}

TEST(JoinedNorm, IsLeftThePlainOneOfARunThatIsAlone) {
  Plan plan = ShortPlan("resnet");
  const std::vector<Tensor> plain = WeightsOf(RunPlan(plan, {}));
  plan.recipe.sync_batchnorm = true;
  EXPECT_TRUE(AllEqual(WeightsOf(RunPlan(plan, {})), plain));
}

}  // namespace
}  // namespace dlcheck::reference
