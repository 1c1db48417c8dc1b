// Each fault does in the real code path what its story says. That its check finds it is for the
// tests of the whole tool.
#include "reference/faults/faults.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "reference/recipe/rejection.h"
#include "reference/training/experiments.h"
#include "tests/reference/runs.h"

namespace dlcheck::reference {
namespace {

Plan With(const std::string& fault, int64_t steps) {
  Plan plan = DigitsPlan();
  plan.recipe.steps = steps;
  PlantFault(fault, plan);
  return plan;
}

// What was seen of the gradient of `parameter` at each step: none, or its mean absolute value and
// norm.
struct Gradients {
  std::vector<std::optional<double>> mean;
  std::vector<double> norm;  // of all parameters together
};

Gradients GradientsOf(const Plan& plan, const std::string& parameter) {
  Gradients seen;
  torch::nn::Module* module = nullptr;
  Observer observer;
  observer.model = [&](torch::nn::Module& model) { module = &model; };
  observer.before_step = [&] {
    double squares = 0;
    for (const torch::Tensor& weight : module->parameters()) {
      if (weight.grad().defined()) squares += std::pow(weight.grad().norm().item<double>(), 2);
    }
    seen.norm.push_back(std::sqrt(squares));
    const torch::Tensor gradient = module->named_parameters()[parameter].grad();
    seen.mean.push_back(gradient.defined() ? std::optional(gradient.abs().mean().item<double>())
                                           : std::nullopt);
  };
  RunPlan(plan, observer);
  return seen;
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + values.size() / 2, values.end());
  return values[values.size() / 2];
}

TEST(Faults, AreNamedOnceAndToldInFull) {
  std::set<std::string> names;
  for (const Fault& fault : Faults()) {
    EXPECT_TRUE(names.insert(fault.name).second) << fault.name;
    EXPECT_NE(fault.check.find('/'), std::string::npos) << fault.name;
    EXPECT_EQ(fault.story.back(), '.') << fault.name;
    Plan plan;
    PlantFault(fault.name, plan);
  }
}

TEST(Faults, NameTheNearestWhenUnknown) {
  Plan plan;
  EXPECT_THAT([&] { PlantFault("detached_trunc", plan); },
              testing::ThrowsMessage<UsageError>(testing::HasSubstr("'detached_trunk'")));
}

TEST(Faults, WrongStartsCostMoreThanTwiceChance) {
  const double bound = 3 * std::log(10.0);
  EXPECT_LT(LossesOf(DigitsPlan()).front(), bound);
  EXPECT_GT(LossesOf(With("last_layer_times_50", 1)).front(), bound);
  EXPECT_GT(LossesOf(With("raw_inputs_times_255", 1)).front(), bound);
}

TEST(Faults, SquashedOutputsFitNoBatch) {
  Plan plan = With("squashed_outputs", 1);
  Request request;
  request.experiment = "one_batch";
  request.steps = 300;
  request.reference_rate = 1e-3;
  ApplyRequest(request, plan);
  EXPECT_GT(LossesOf(plan).back(), 1.4);
}

TEST(Faults, NothingIsLearnedFromLabelsOrInputsThatSayNothing) {
  for (const char* fault : {"lagging_labels", "zeroed_inputs"}) {
    EXPECT_LT(RunPlan(With(fault, 300), {}).scores.accuracy, 0.3) << fault;
  }
}

TEST(Faults, DetachedTrunkGetsNoGradient) {
  const Gradients trunk = GradientsOf(With("detached_trunk", 3), "trunk.1.weight");
  for (const auto& mean : trunk.mean) EXPECT_FALSE(mean.has_value());
  EXPECT_GT(trunk.norm.front(), 0);
}

TEST(Faults, TinyInitializationStarvesTheFirstLayer) {
  const Gradients first = GradientsOf(With("tiny_initialization", 20), "trunk.1.weight");
  for (const auto& mean : first.mean) EXPECT_LT(*mean, 1e-7);
}

TEST(Faults, CorruptedBatchesTowerOverTheMedian) {
  const Gradients seen = GradientsOf(With("corrupted_batches", 400), "trunk.1.weight");
  const double median = Median(seen.norm);
  for (size_t step = 0; step < seen.norm.size(); ++step) {
    if (step >= 100 && step % 5 == 0) {
      EXPECT_GT(seen.norm[step], 100 * median) << step;
    }
    EXPECT_TRUE(std::isfinite(seen.norm[step])) << step;
  }
}

TEST(Faults, NumbersStopBeingFiniteAtStep40) {
  for (const char* fault : {"nan_in_one_batch", "log_of_zero"}) {
    const std::vector<double> losses = LossesOf(With(fault, 50));
    for (size_t step = 0; step < losses.size(); ++step) {
      EXPECT_EQ(std::isfinite(losses[step]), step < 40) << fault << ' ' << step;
    }
  }
}

TEST(Faults, UnclearedGradientsStay) {
  const Gradients kept = GradientsOf(With("gradients_not_cleared", 100), "trunk.1.weight");
  const Gradients cleared = GradientsOf(DigitsPlan(), "trunk.1.weight");
  EXPECT_GT(kept.norm[50], 3 * cleared.norm[50]);
}

TEST(Faults, HeadOutsideTheOptimizerNeverMoves) {
  torch::Tensor head, before;
  Observer observer;
  observer.model = [&](torch::nn::Module& model) {
    head = model.named_parameters()["head.weight"];
    before = head.detach().clone();
  };
  RunPlan(With("head_not_in_optimizer", 5), observer);
  EXPECT_TRUE(torch::equal(head, before));
}

TEST(Faults, OrderFromTheClockDiffersEachTime) {
  EXPECT_NE(LossesOf(With("order_from_clock", 5)), LossesOf(With("order_from_clock", 5)));
}

TEST(Faults, CrashesComeAtStep37) {
  int64_t steps = 0;
  Observer observer;
  observer.after_step = [&](bool) { ++steps; };
  EXPECT_THROW(RunPlan(With("crash_at_step_37", 1), observer), std::runtime_error);
  EXPECT_EQ(steps, 37);
}

}  // namespace
}  // namespace dlcheck::reference
