#include "reference/training/experiments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "reference/recipe/rejection.h"
#include "tests/reference/runs.h"

namespace dlcheck::reference {
namespace {

Request Ask(const std::string& experiment, std::optional<int64_t> steps = std::nullopt) {
  Request request;
  request.run_folder = "/tmp/run";
  request.experiment = experiment;
  request.steps = steps;
  request.reference_rate = 1e-3;
  return request;
}

Plan After(const Request& request, Plan plan = DigitsPlan()) {
  ApplyRequest(request, plan);
  return plan;
}

// The probe ends a run that has all its steps; a schedule over fewer would be another run.
TEST(Experiments, LeaveStepsAndScheduleOfThePlainRunAsTheyAre) {
  for (const char* experiment : {"plain", "same_seed", "resumed", "trials"}) {
    EXPECT_EQ(After(Ask(experiment, 10)).recipe.steps, Recipe().steps) << experiment;
    EXPECT_EQ(After(Ask(experiment, 10'000'000)).recipe.steps, Recipe().steps) << experiment;
  }
}

TEST(Experiments, TakeTheirOwnStepsAndSeed) {
  Request request = Ask("mean_inputs", 10'000);
  request.seed = 5;
  const Plan plan = After(request);
  EXPECT_EQ(plan.recipe.steps, 10'000);
  EXPECT_EQ(plan.recipe.seed, 5);
}

TEST(Experiments, ReplaceTheOptimizerButNotInAPlainRun) {
  EXPECT_EQ(After(Ask("plain")).recipe.optimizer, "sgd");
  EXPECT_EQ(After(Ask("same_seed")).recipe.optimizer, "sgd");
  for (const char* experiment : {"one_batch", "reference", "mean_inputs"}) {
    const Plan plan = After(Ask(experiment));
    EXPECT_EQ(plan.recipe.optimizer, "adam");
    EXPECT_EQ(plan.recipe.lr, 1e-3);
  }
}

TEST(Experiments, NeitherGoOnFromNorWriteToTheUsersCheckpoints) {
  Plan plan = DigitsPlan();
  plan.recipe.checkpoints = "/home/me/checkpoints";
  plan.recipe.log = "/home/me/log.jsonl";
  plan.recipe.resume = true;
  for (const char* experiment : {"same_seed", "resumed", "one_batch"}) {
    const Recipe recipe = After(Ask(experiment), plan).recipe;
    EXPECT_EQ(recipe.checkpoints, "/tmp/run/checkpoints");
    EXPECT_EQ(recipe.log, "/tmp/run/log.jsonl");
    EXPECT_FALSE(recipe.resume);
  }
}

TEST(Experiments, NeverSaveWhereTheRecipeSays) {
  Plan plan = DigitsPlan();
  plan.recipe.save = "/home/me/best.pt";
  EXPECT_EQ(After(Ask("plain"), plan).recipe.save, "/home/me/best.pt");
  EXPECT_EQ(After(Ask("same_seed"), plan).recipe.save, "/tmp/run/best.pt");
}

TEST(Experiments, RefuseWhatTheyDoNotKnow) {
  EXPECT_THROW(After(Ask("upside_down")), UsageError);
  Request request = Ask("one_batch");
  request.reference_rate = std::nullopt;
  EXPECT_THROW(After(request), UsageError);
}

TEST(OneBatch, RepeatsTheFirstSamplesAndFitsThem) {
  Plan plan = DigitsPlan();
  plan.recipe.dropout = 0.5;
  plan = After(Ask("one_batch", 300), plan);
  std::vector<torch::Tensor> seen;
  std::vector<double> losses;
  Observer observer;
  observer.batch = [&](const torch::Tensor& x, const torch::Tensor&) { seen.push_back(x); };
  observer.loss = [&](const torch::Tensor& loss, const torch::Tensor&, const torch::Tensor&) {
    losses.push_back(loss.item<double>());
  };
  RunPlan(plan, observer);
  ASSERT_EQ(seen.size(), 300u);
  EXPECT_EQ(seen.front().size(0), 32);
  EXPECT_TRUE(torch::equal(seen.front(), seen.back()));
  EXPECT_LT(losses.back(), 0.05);

  const Dataset digits = LoadDataset(plan.recipe.data, std::nullopt);
  const Batches own(digits.train, {.batch_size = Recipe().batch_size});
  EXPECT_TRUE(torch::equal(seen.front(), own.At(0).x.slice(0, 0, 32)));
}

TEST(Blind, LearnsNothingWhereTheReferenceLearns) {
  const std::vector<double> reference = LossesOf(After(Ask("reference", 200)));
  const std::vector<double> blind = LossesOf(After(Ask("mean_inputs", 200)));
  EXPECT_LT(reference.back(), 0.5);
  const auto [least, greatest] = std::minmax_element(blind.begin(), blind.end());
  EXPECT_GT(*least, std::log(10.0) - 0.2);
  EXPECT_LT(*greatest, std::log(10.0) + 0.2);
}

}  // namespace
}  // namespace dlcheck::reference
