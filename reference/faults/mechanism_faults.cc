#include <memory>

#include "reference/faults/planters.h"
#include "reference/faults/step_faults.h"

namespace dlcheck::reference {
namespace {

// Windows of four micro-batches, the last of an epoch ragged.
void NeedWindows(Plan& plan) {
  plan.recipe.gradient_accumulation_steps = 4;
  plan.recipe.batch_size = 16;
  plan.recipe.drop_last = false;
}

template <Edit kEdit>
void PlantAccumulation(Plan& plan) {
  NeedWindows(plan);
  kEdit(plan);
}

// Micro-batches with between none and eleven targets that do not count, as padding would be.
void PlantMeanOfMeans(Plan& plan) {
  PlantAccumulation<TakeMeanOfMeans>(plan);
  const auto calls = std::make_shared<int64_t>(0);
  plan.batch = [calls](int64_t, const Batch& batch) {
    const int64_t ignored = std::min((*calls)++ * 5 % 12, batch.y.size(0) - 1);
    torch::Tensor targets = batch.y.clone();
    targets.slice(0, 0, ignored).fill_(-100);
    return Batch{batch.x, targets};
  };
}

// A bound that gradients of the digits exceed at nearly every step.
void NeedClipping(Plan& plan) {
  plan.recipe.gradient_clip_algorithm = "norm";
  plan.recipe.gradient_clip_norm_type = "2";
  plan.recipe.gradient_clip_val = 0.05;
}

// fp16 with a scale that soon meets the largest number of fp16, and again every few steps.
void NeedLossScale(Plan& plan) {
  plan.recipe.model = "mlp";
  plan.recipe.autocast = "fp16";
  plan.recipe.loss_scale = "on";
  plan.recipe.initial_scale = 1 << 20;
  plan.recipe.growth_interval = 7;
}

void PlantClearedInsideWindow(Plan& plan) {
  NeedWindows(plan);
  ClearInsideWindow(plan);
}

void PlantClippedInsideWindow(Plan& plan) {
  NeedWindows(plan);
  NeedClipping(plan);
  ClipInsideWindow(plan);
}

void PlantClippedAfterStep(Plan& plan) {
  NeedClipping(plan);
  ClipAfterStep(plan);
}

void PlantClippedPerTensor(Plan& plan) {
  NeedClipping(plan);
  plan.deviations.clip = ClipDeviation::kPerTensorNorm;
}

void PlantClippedBeforeUnscale(Plan& plan) {
  NeedLossScale(plan);
  NeedClipping(plan);
  ClipBeforeUnscale(plan);
}

// A small scale, so that training survives for a while.
void PlantNotUnscaled(Plan& plan) {
  NeedLossScale(plan);
  plan.recipe.initial_scale = 4;
  plan.recipe.growth_interval = 2000;
  StepWithoutUnscale(plan);
}

template <ScalerDeviation kDeviation>
void PlantScaler(Plan& plan) {
  NeedLossScale(plan);
  plan.deviations.scaler = kDeviation;
}

void PlantAutocastLeftOut(Plan& plan) {
  plan.recipe.autocast = "bf16";
  plan.deviations.autocast_left_out = true;
}

void PlantAutocastAroundStep(Plan& plan) {
  plan.recipe.autocast = "bf16";
  StepUnderAutocast(plan);
}

void PlantPureBf16(Plan& plan) {
  plan.recipe.model = "mlp";
  plan.recipe.autocast = "none";
  plan.recipe.weights = "bf16";
  plan.recipe.master_weights = false;
  plan.recipe.optimizer = "adamw";
  plan.recipe.lr = 1e-5;
}

template <OptimizerDeviation kDeviation>
void PlantAdamW(Plan& plan) {
  plan.recipe.optimizer = "adamw";
  plan.recipe.weight_decay = 0.1;
  plan.deviations.optimizer = kDeviation;
}

template <OptimizerDeviation kDeviation>
void PlantSgd(Plan& plan) {
  NeedSchedule(plan);
  plan.recipe.optimizer = "sgd";
  plan.recipe.momentum = 0.9;
  plan.recipe.nesterov = kDeviation == OptimizerDeviation::kNesterovIgnored;
  plan.deviations.optimizer = kDeviation;
}

void PlantMasterRebuilt(Plan& plan) {
  plan.recipe.model = "mlp";
  plan.recipe.autocast = "none";
  plan.recipe.weights = "bf16";
  PlantAdamW<OptimizerDeviation::kMasterFromWeights>(plan);
}

// Clearing reaches only what still requires a gradient, so the frozen ones keep theirs.
void PlantFrozenKeepsMoving(Plan& plan) {
  constexpr int64_t kFreezes = 20;
  struct Kept {
    torch::nn::Module* module = nullptr;
    std::vector<std::pair<torch::Tensor, torch::Tensor>> gradients;
  };
  const auto kept = std::make_shared<Kept>();
  if (!IsBuiltIn(plan.recipe.model)) plan.recipe.model = "mlp";
  plan.initialize = [kept](torch::nn::Module& module) { kept->module = &module; };
  plan.step_begins = [kept](int64_t step) {
    if (step != kFreezes) return;
    for (const auto& parameter : kept->module->named_parameters()) {
      if (parameter.key().rfind("trunk.", 0) != 0) continue;
      torch::Tensor weight = parameter.value();
      kept->gradients.emplace_back(weight, weight.grad().clone());
      weight.set_requires_grad(false);
    }
  };
  plan.loss = [kept](int64_t, const torch::Tensor& loss) {
    for (auto& [weight, gradient] : kept->gradients) weight.mutable_grad() = gradient;
    return loss;
  };
}

}  // namespace

Planters MechanismFaults() {
  using F = FaultName;
  using O = OptimizerDeviation;
  return {
      {F::kAccumulationNotDivided, PlantAccumulation<DivideByMicroBatch>},
      {F::kLossDividedTwice, PlantAccumulation<DivideTwice>},
      {F::kMeanOfMeans, PlantMeanOfMeans},
      {F::kRaggedTail, PlantAccumulation<DivideByFullWindow>},
      {F::kClearedInsideWindow, PlantClearedInsideWindow},
      {F::kClippedInsideWindow, PlantClippedInsideWindow},
      {F::kClippedAfterStep, PlantClippedAfterStep},
      {F::kClippedPerTensor, PlantClippedPerTensor},
      {F::kClippedBeforeUnscale, PlantClippedBeforeUnscale},
      {F::kNotUnscaled, PlantNotUnscaled},
      {F::kScaleWithoutBackoff, PlantScaler<ScalerDeviation::kNoBackoff>},
      {F::kTrackerNotReset, PlantScaler<ScalerDeviation::kTrackerNotReset>},
      {F::kScaleGrowsEarly, PlantScaler<ScalerDeviation::kGrowsEarly>},
      {F::kNonFiniteTaken, PlantScaler<ScalerDeviation::kSkipsNothing>},
      {F::kAutocastLeftOut, PlantAutocastLeftOut},
      {F::kAutocastAroundStep, PlantAutocastAroundStep},
      {F::kPureBf16, PlantPureBf16},
      {F::kEpsilonInsideRoot, PlantAdamW<O::kEpsilonInsideRoot>},
      {F::kNoBiasCorrection, PlantAdamW<O::kNoBiasCorrection>},
      {F::kStepsAhead, PlantAdamW<O::kStepsAhead>},
      {F::kSwappedBetas, PlantAdamW<O::kSwappedBetas>},
      {F::kCoupledDecay, PlantAdamW<O::kCoupledDecay>},
      {F::kNesterovIgnored, PlantSgd<O::kNesterovIgnored>},
      {F::kRateInMomentum, PlantSgd<O::kRateInMomentum>},
      {F::kMasterRebuilt, PlantMasterRebuilt},
      {F::kFrozenKeepsMoving, PlantFrozenKeepsMoving},
  };
}

}  // namespace dlcheck::reference
