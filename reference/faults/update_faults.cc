#include <algorithm>
#include <limits>
#include <memory>

#include "reference/faults/planters.h"
#include "reference/faults/step_faults.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kNanStep = 40;

void PlantRateTooLarge(Plan& plan) {
  plan.recipe.model = "mlp";
  plan.recipe.optimizer = "sgd";
  plan.recipe.lr = 50;
}

// Too few steps for a verdict on how much was learned.
void PlantRateTooSmall(Plan& plan) {
  plan.recipe.model = "mlp";
  plan.recipe.steps = 60;
  plan.recipe.optimizer = "sgd";
  plan.recipe.lr = 5e-8;
}

void PlantNanInWeight(Plan& plan) {
  const auto model = std::make_shared<torch::nn::Module*>(nullptr);
  plan.recipe.steps = std::max<int64_t>(plan.recipe.steps, 2 * kNanStep);
  plan.initialize = [model](torch::nn::Module& module) { *model = &module; };
  plan.step_begins = [model](int64_t step) {
    if (step != kNanStep) return;
    const torch::NoGradGuard no_grad;
    (*model)->parameters().front().view(-1)[0] = std::numeric_limits<double>::quiet_NaN();
  };
}

template <const char* kOptimizer, OptimizerDeviation kDeviation>
void PlantRule(Plan& plan) {
  plan.recipe.model = "mlp";
  plan.recipe.optimizer = kOptimizer;
  plan.recipe.centered = plan.recipe.optimizer == "rmsprop";
  plan.deviations.optimizer = kDeviation;
}

constexpr char kRmsprop[] = "rmsprop", kAdagrad[] = "adagrad", kNadam[] = "nadam";

template <AverageDeviation kDeviation>
void PlantSwa(Plan& plan) {
  plan.recipe.swa_start = 10;
  plan.recipe.swa_every = 1;
  plan.deviations.average = kDeviation;
}

void PlantMomentsSavedInBf16(Plan& plan) {
  plan.recipe.optimizer = "adamw";
  PlantSavedInBf16(plan, "optimizer");
}

void PlantAveragesSavedInBf16(Plan& plan) {
  plan.recipe.ema_decay = 0.9;
  PlantSavedInBf16(plan, "average");
}

}  // namespace

Planters UpdateFaults() {
  using F = FaultName;
  using O = OptimizerDeviation;
  return {
      {F::kRateTooLarge, PlantRateTooLarge},
      {F::kRateTooSmall, PlantRateTooSmall},
      {F::kStepsTwice, StepTwice},
      {F::kClearedBeforeStep, ClearBeforeStep},
      {F::kNeverSteps, LeaveOutStep},
      {F::kNanInWeight, PlantNanInWeight},
      {F::kRmspropEpsilonInside, PlantRule<kRmsprop, O::kEpsilonInsideRoot>},
      {F::kRmspropNotCentered, PlantRule<kRmsprop, O::kCoreLeftOut>},
      {F::kAdagradAverages, PlantRule<kAdagrad, O::kCoreLeftOut>},
      {F::kNadamEpsilonInside, PlantRule<kNadam, O::kEpsilonInsideRoot>},
      {F::kAveragesOfSwaNever, PlantSwa<AverageDeviation::kNeverUpdated>},
      {F::kSwaCopies, PlantSwa<AverageDeviation::kAlwaysFirst>},
      {F::kOptimizerSavedInBf16, PlantMomentsSavedInBf16},
      {F::kAverageSavedInBf16, PlantAveragesSavedInBf16},
  };
}

}  // namespace dlcheck::reference
