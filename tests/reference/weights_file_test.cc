// Weights that leave one run and begin another.
#include "reference/training/weights_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/tensor_file.h"
#include "reference/recipe/rejection.h"
#include "tests/reference/runs.h"

namespace dlcheck::reference {
namespace {

using testing::HasSubstr;

std::string Path() { return testing::TempDir() + "/weights.safetensors"; }

Plan ShortPlan() {
  Plan plan = DigitsPlan();
  plan.recipe.steps = 5;
  return plan;
}

// What is thrown when a run begins with these tensors.
std::string RefusalOf(const NamedTensors& tensors) {
  std::remove(Path().c_str());
  WriteDurably(Path(), TensorFileBytes(tensors));
  Plan plan = ShortPlan();
  plan.recipe.init_from = Path();
  try {
    RunPlan(plan, {});
  } catch (const InputRejected& rejection) {
    return rejection.what();
  }
  return "accepted";
}

NamedTensors WeightsOfARun() {
  Plan plan = ShortPlan();
  plan.recipe.export_to = Path();
  RunPlan(plan, {});
  NamedTensors tensors;
  for (const auto& [name, tensor] : TensorsOf(Path(), ReadWhole(Path()))) {
    tensors.emplace_back(name, tensor);
  }
  return tensors;
}

TEST(WeightsFile, OfOneRunBeginsTheNextWithTheSameLoss) {
  Plan first = ShortPlan();
  first.recipe.export_to = Path();
  first.recipe.ema_decay = 0.9;  // evaluations use averages, and so does the file
  const Outcome outcome = RunPlan(first, {});
  Plan second = ShortPlan();
  second.recipe.init_from = Path();
  second.recipe.seed = 7;
  std::vector<double> losses;
  Observer observer;
  observer.evaluated = [&](double loss, int64_t) { losses.push_back(loss); };
  RunPlan(second, observer);
  EXPECT_EQ(losses.front(), outcome.scores.loss);
}

TEST(WeightsFile, OfAScheduleFreeRunHoldsItsAverages) {
  Plan plan = ShortPlan();
  plan.recipe.optimizer = "schedule_free";
  plan.recipe.export_to = Path();
  const Outcome outcome = RunPlan(plan, {});
  const auto tensors = TensorsOf(Path(), ReadWhole(Path()));
  const torch::Tensor live = outcome.model.module->named_parameters()["head.weight"].detach();
  EXPECT_FALSE(torch::equal(tensors.at("head.weight"), live));
}

TEST(WeightsFile, IsRefusedWithTheTensorThatDoesNotFit) {
  const NamedTensors whole = WeightsOfARun();
  EXPECT_EQ(RefusalOf(whole), "accepted");
  NamedTensors less = whole;
  const std::string name = less.back().first;
  less.pop_back();
  EXPECT_THAT(RefusalOf(less), HasSubstr("it has no tensor '" + name + "', which the model has"));
  NamedTensors more = whole;
  more.emplace_back("stray", torch::zeros({2}));
  EXPECT_THAT(RefusalOf(more), HasSubstr("the model has no tensor 'stray'"));
  NamedTensors other = whole;
  other.back().second = torch::zeros({3, 3, 3});
  EXPECT_THAT(RefusalOf(other), HasSubstr("has shape [3, 3, 3], and the model's has ["));
}

TEST(WeightsFile, ThatIsNoneIsRefused) {
  std::remove(Path().c_str());
  WriteDurably(Path(), "no tensors");
  Plan plan = ShortPlan();
  plan.recipe.init_from = Path();
  EXPECT_THROW(RunPlan(plan, {}), InputRejected);
}

}  // namespace
}  // namespace dlcheck::reference
