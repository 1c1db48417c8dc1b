#include "reference/faults/step_faults.h"

#include <algorithm>
#include <numeric>

#include "reference/precision/autocast.h"
#include "reference/training/training.h"

namespace dlcheck::reference {
namespace {

using List = std::vector<Phase>;

void Remove(List& phases, Phase phase) { std::erase(phases, phase); }

void Swap(List& phases, Phase phase, Phase other) {
  std::replace(phases.begin(), phases.end(), phase, other);
}

void InsertBefore(List& phases, Phase place, Phase phase) {
  phases.insert(std::find(phases.begin(), phases.end(), place), phase);
}

double OwnTargets(const Training& training) {
  const std::vector<double>& targets = training.inputs.window.targets;
  return std::accumulate(targets.begin(), targets.end(), 0.0);
}

double MicroBatches(const Training& training) {
  return static_cast<double>(training.inputs.window.batches.size());
}

void TakeStepAsItIs(Training& training) {
  Tell(training.observer.before_step);
  training.optimizer->Step();
  training.took_step = true;
}

void TakeStepUnderAutocast(Training& training) {
  const AutocastGuard autocast(training.device.type(), at::kBFloat16);
  OptimizerStep(training);
}

void SetFirstLearningRate(Training& training) {
  std::vector<Optimizer::Group>& groups = training.optimizer->groups();
  std::vector<double> before;
  for (const Optimizer::Group& group : groups) before.push_back(group.lr);
  SetLearningRates(training);
  for (size_t i = 1; i < groups.size(); ++i) groups[i].lr = before[i];
}

void EnterTrainingModeOnce(Training& training) {
  if (training.counters.step == 0) EnterTrainingMode(training);
}

void KeepStatisticsLearning(Training& training) {
  for (const auto& child : training.model.module->modules()) {
    if (child->as<torch::nn::BatchNorm2d>() != nullptr) child->train();
  }
}

}  // namespace

void DivideByMicroBatch(Plan& plan) {
  plan.divisor = [](const Training& training, size_t micro) {
    return training.inputs.window.targets[micro];
  };
}

void DivideTwice(Plan& plan) {
  plan.divisor = [](const Training& training, size_t) {
    return training.inputs.window.all_targets * MicroBatches(training);
  };
}

void TakeMeanOfMeans(Plan& plan) {
  plan.divisor = [](const Training& training, size_t micro) {
    return training.inputs.window.targets[micro] * MicroBatches(training);
  };
}

void DivideByFullWindow(Plan& plan) {
  plan.divisor = [](const Training& training, size_t) {
    return training.inputs.window.targets.front() *
           static_cast<double>(training.plan.recipe.gradient_accumulation_steps);
  };
}

void LeaveOutClearing(Plan& plan) { Remove(plan.phases.window_begins, ZeroGradients); }

void ClearInsideWindow(Plan& plan) {
  Remove(plan.phases.window_begins, ZeroGradients);
  InsertBefore(plan.phases.micro_batch, ForwardBackward, ZeroGradients);
}

void ClipInsideWindow(Plan& plan) {
  plan.phases.micro_batch.push_back(Clip);
  Remove(plan.phases.step, Clip);
}

void ClipBeforeUnscale(Plan& plan) {
  Remove(plan.phases.step, Clip);
  InsertBefore(plan.phases.step, Unscale, Clip);
}

void ClipAfterStep(Plan& plan) {
  Remove(plan.phases.step, Clip);
  InsertBefore(plan.phases.step, UpdateScaler, Clip);
}

void StepWithoutUnscale(Plan& plan) {
  Remove(plan.phases.step, Unscale);
  Swap(plan.phases.step, OptimizerStep, TakeStepAsItIs);
  Remove(plan.phases.step, UpdateScaler);
}

void StepUnderAutocast(Plan& plan) { Swap(plan.phases.step, OptimizerStep, TakeStepUnderAutocast); }

// A second step of its own, which the count of updates does not know.
void StepTwice(Plan& plan) {
  InsertBefore(plan.phases.step, OptimizerStep, CountUpdate);
  InsertBefore(plan.phases.step, CountUpdate, OptimizerStep);
}

void ClearBeforeStep(Plan& plan) { InsertBefore(plan.phases.step, OptimizerStep, ZeroGradients); }

void LeaveOutStep(Plan& plan) {
  Remove(plan.phases.step, OptimizerStep);
  Remove(plan.phases.step, CountUpdate);
}

void ScheduleFirstGroupAlone(Plan& plan) {
  Swap(plan.phases.step, SetLearningRates, SetFirstLearningRate);
}

void EvaluateInTrainingMode(Plan& plan) {
  Remove(plan.phases.evaluation_begins, EnterEvaluationMode);
}

void StayInEvaluationMode(Plan& plan) {
  Swap(plan.phases.step_begins, EnterTrainingMode, EnterTrainingModeOnce);
}

void LearnStatisticsInEvaluation(Plan& plan) {
  InsertBefore(plan.phases.evaluation_begins, SynchronizeBuffers, KeepStatisticsLearning);
}

Plan WithEditsOfRanks(Plan plan) {
  Phases& phases = plan.phases;
  switch (plan.deviations.ranks) {
    case RanksDeviation::kMeanOfRankMeans:
      plan.divisor = [](const Training& training, size_t) { return OwnTargets(training); };
      break;
    case RanksDeviation::kScaledByWorld:
      plan.divisor = [](const Training& training, size_t) {
        return training.inputs.window.all_targets /
               static_cast<double>(training.distributed.ranks.world());
      };
      break;
    case RanksDeviation::kSharedTooEarly:
      plan.shares_gradients = [](size_t micro, size_t) { return micro == 0; };
      break;
    case RanksDeviation::kOwnBuffers:
      Remove(phases.evaluation_begins, SynchronizeBuffers);
      Remove(phases.step, SynchronizeAveragedBuffers);
      break;
    case RanksDeviation::kNotPutTogether:
      Remove(phases.step, Gather);
      break;
    default:  // made where the run's parts are built
      break;
  }
  return plan;
}

}  // namespace dlcheck::reference
