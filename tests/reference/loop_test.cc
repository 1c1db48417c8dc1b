#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/tensor_file.h"
#include "reference/training/run.h"
#include "tests/reference/runs.h"

namespace dlcheck::reference {
namespace {

using testing::ElementsAre;

// What a run of each model reaches with the default steps and rates, on all of three seeds.
TEST(Train, LearnsTheDigitsWithEachModelAndOptimizer) {
  const struct {
    const char* model;
    double accuracy;
  } cases[] = {{"mlp", 0.94}, {"resnet", 0.97}};
  for (const auto& [model, accuracy] : cases) {
    for (const char* optimizer : {"sgd", "adam", "adamw"}) {
      for (const int64_t seed : {0, 1, 2}) {
        Plan plan = DigitsPlan();
        plan.recipe.model = model;
        plan.recipe.optimizer = optimizer;
        plan.recipe.weight_decay = 0.001;
        plan.recipe.seed = seed;
        EXPECT_GE(RunPlan(plan, {}).scores.accuracy, accuracy)
            << model << ' ' << optimizer << ' ' << seed;
      }
    }
  }
}

TEST(Train, LearnsNothingWithoutSteps) {
  Plan plan = DigitsPlan();
  plan.recipe.steps = 1;
  EXPECT_LT(RunPlan(plan, {}).scores.accuracy, 0.3);
}

TEST(Train, GivesTheSameWeightsForTheSameSeed) {
  for (const char* model : {"mlp", "resnet"}) {
    Plan plan = DigitsPlan();
    plan.recipe.model = model;
    plan.recipe.dropout = 0.2;
    plan.recipe.steps = 50;
    const std::vector<torch::Tensor> first = WeightsOf(RunPlan(plan, {}));
    EXPECT_TRUE(AllEqual(first, WeightsOf(RunPlan(plan, {})))) << model;
    plan.recipe.seed = 1;
    EXPECT_FALSE(AllEqual(first, WeightsOf(RunPlan(plan, {})))) << model;
  }
}

TEST(Train, TellsTheObserverEverythingInOrder) {
  std::vector<std::string> told;
  const auto note = [&](const char* what) { told.emplace_back(what); };
  Observer observer;
  observer.seeded = [&](int64_t seed) { note(seed == 0 ? "seeded" : "?"); };
  observer.model = [&](torch::nn::Module&) { note("model"); };
  observer.optimizer = [&](Optimizer&) { note("optimizer"); };
  observer.batch = [&](const auto& x, const auto&) { note(x.size(0) == 64 ? "batch" : "?"); };
  observer.mode = [&](bool training) { note(training ? "training" : "evaluation"); };
  observer.cleared = [&] { note("cleared"); };
  observer.loss = [&](const auto& loss, const auto& logits, const auto& targets) {
    const bool right = loss.requires_grad() && logits.size(1) == 10 && targets.size(0) == 64;
    note(right && at::GradMode::is_enabled() ? "loss" : "?");
  };
  observer.before_step = [&] { note("before_step"); };
  observer.after_step = [&](bool) { note("after_step"); };
  int64_t evaluated_rows = 0;
  observer.evaluation_outputs = [&](const auto& logits, const auto&) {
    evaluated_rows += logits.size(0);
  };
  observer.evaluated = [&](double, int64_t samples) { note(samples == 360 ? "evaluated" : "?"); };
  Plan plan = DigitsPlan();
  plan.recipe.steps = 2;
  RunPlan(plan, observer);
  EXPECT_THAT(
      told, ElementsAre("seeded", "model", "optimizer", "evaluation", "evaluated", "training",
                        "cleared", "batch", "loss", "before_step", "after_step", "cleared", "batch",
                        "loss", "before_step", "after_step", "evaluation", "evaluated"));
  EXPECT_EQ(evaluated_rows, 2 * 360);
}

TEST(Train, WritesItsStateWhole) {
  const std::string path = testing::TempDir() + "/state.safetensors";
  Plan plan = DigitsPlan();
  plan.recipe.steps = 3;
  plan.recipe.save = path;
  std::string saved;
  Observer observer;
  observer.saved = [&](const std::string& file, const NamedTensors&) { saved = file; };
  const Outcome outcome = RunPlan(plan, observer);
  EXPECT_EQ(saved, path);
  const auto state = TensorsOf(path, ReadWhole(path));
  EXPECT_TRUE(torch::equal(state.at("model/head.weight"),
                           outcome.model.module->named_parameters()["head.weight"]));
  EXPECT_EQ(state.at("counters/step").item<int64_t>(), 3);
}

}  // namespace
}  // namespace dlcheck::reference
