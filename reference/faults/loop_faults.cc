#include "reference/faults/planters.h"

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <random>
#include <stdexcept>

#include "reference/faults/step_faults.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

constexpr int64_t kBadStep = 40;
constexpr int64_t kCrashStep = 37;
constexpr int64_t kFirstCorrupted = 100;

bool IsOfHead(const std::string& parameter) { return parameter.rfind("head.", 0) == 0; }

// For faults that name `trunk` and `head`, which a plugin need not have.
void NeedBuiltIn(Plan& plan) {
  if (!IsBuiltIn(plan.recipe.model)) plan.recipe.model = "mlp";
}

void ScaleParameters(torch::nn::Module& module, double factor, bool (*chosen)(const std::string&)) {
  const torch::NoGradGuard no_grad;
  for (auto& parameter : module.named_parameters()) {
    if (chosen(parameter.key())) parameter.value().mul_(factor);
  }
}

void PlantLastLayerTimes50(Plan& plan) {
  NeedBuiltIn(plan);
  plan.initialize = [](torch::nn::Module& module) { ScaleParameters(module, 50, IsOfHead); };
}

// Batch norm would undo it, and Adam would not be stopped by it.
void PlantTinyInitialization(Plan& plan) {
  plan.recipe.model = "mlp";
  plan.recipe.optimizer = "sgd";
  plan.initialize = [](torch::nn::Module& module) {
    ScaleParameters(module, 1e-4, [](const std::string&) { return true; });
  };
}

// Batch norm would undo it.
void PlantRawInputsTimes255(Plan& plan) {
  plan.recipe.model = "mlp";
  plan.normalization = Normalization{0, 1.0 / 255};
}

void PlantDetachedTrunk(Plan& plan) {
  NeedBuiltIn(plan);
  plan.features = [](const Tensor& features) { return features.detach(); };
}

void PlantHeadNotInOptimizer(Plan& plan) {
  NeedBuiltIn(plan);
  plan.is_optimized = [](const std::string& parameter) { return !IsOfHead(parameter); };
}

void PlantSquashedOutputs(Plan& plan) {
  plan.logits = [](const Tensor& logits) { return logits.sigmoid(); };
}

// Within one batch repeated for ever the lag has no effect, so the model can fit that.
void PlantLaggingLabels(Plan& plan) {
  const auto before = std::make_shared<Tensor>();
  plan.batch = [before](int64_t, const Batch& batch) {
    const bool fits = before->defined() && before->size(0) >= batch.y.size(0);
    const Batch lagging{batch.x, fits ? before->slice(0, 0, batch.y.size(0)) : batch.y};
    *before = batch.y;
    return lagging;
  };
}

void PlantZeroedInputs(Plan& plan) {
  plan.batch = [](int64_t, const Batch& batch) {
    return Batch{torch::zeros_like(batch.x), batch.y};
  };
}

// Adam's updates are bounded, so that the weights outlive such batches and the median stays.
void PlantCorruptedBatches(Plan& plan) {
  plan.recipe.model = "mlp";
  plan.recipe.optimizer = "adam";
  plan.recipe.steps = std::max<int64_t>(plan.recipe.steps, 2 * kFirstCorrupted);
  plan.batch = [](int64_t step, const Batch& batch) {
    const bool corrupted = step >= kFirstCorrupted && step % 5 == 0;
    return corrupted ? Batch{torch::randn_like(batch.x) * 1e4, batch.y} : batch;
  };
}

void NeedStep(Plan& plan, int64_t step) {
  plan.recipe.steps = std::max(plan.recipe.steps, 2 * step);
}

void PlantNanInOneBatch(Plan& plan) {
  NeedStep(plan, kBadStep);
  plan.batch = [](int64_t step, const Batch& batch) {
    if (step == kBadStep) batch.x.view(-1)[0] = std::nan("");
    return batch;
  };
}

void PlantLogOfZero(Plan& plan) {
  NeedStep(plan, kBadStep);
  plan.loss = [](int64_t step, const Tensor& loss) {
    return step == kBadStep ? loss + 0 * (0 * loss).log() : loss;
  };
}

void PlantOrderFromClock(Plan& plan) {
  plan.order_seed = [](uint64_t) { return uint64_t{std::random_device()()}; };
}

void PlantCrash(Plan& plan) {
  NeedStep(plan, kCrashStep);
  plan.step_begins = [](int64_t step) {
    if (step == kCrashStep) throw std::runtime_error("planted failure at step 37");
  };
}

void PlantAbort(Plan& plan) {
  NeedStep(plan, kCrashStep);
  plan.step_begins = [](int64_t step) {
    if (step == kCrashStep) std::abort();
  };
}

}  // namespace

Planters LoopFaults() {
  return {
      {FaultName::kSquashedOutputs, PlantSquashedOutputs},
      {FaultName::kLaggingLabels, PlantLaggingLabels},
      {FaultName::kZeroedInputs, PlantZeroedInputs},
      {FaultName::kCorruptedBatches, PlantCorruptedBatches},
      {FaultName::kDetachedTrunk, PlantDetachedTrunk},
      {FaultName::kTinyInitialization, PlantTinyInitialization},
      {FaultName::kLogOfZero, PlantLogOfZero},
      {FaultName::kNanInOneBatch, PlantNanInOneBatch},
      {FaultName::kGradientsNotCleared, LeaveOutClearing},
      {FaultName::kHeadNotInOptimizer, PlantHeadNotInOptimizer},
      {FaultName::kAbortAtStep37, PlantAbort},
      {FaultName::kCrashAtStep37, PlantCrash},
      {FaultName::kOrderFromClock, PlantOrderFromClock},
      {FaultName::kLastLayerTimes50, PlantLastLayerTimes50},
      {FaultName::kRawInputsTimes255, PlantRawInputsTimes255},
  };
}

}  // namespace dlcheck::reference
