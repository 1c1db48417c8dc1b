#include "reference/training/step.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <utility>

#include "reference/distributed/ddp/trained_parameters.h"
#include "reference/optimization/clipping.h"
#include "reference/training/metrics.h"
#include "reference/training/watched_average.h"

namespace dlcheck::reference {
namespace {

constexpr double kAdaptiveFloor = 1e-3;

double ClipNormOf(const Recipe& recipe) {
  if (recipe.gradient_clip_algorithm != "norm") return 0;
  if (recipe.gradient_clip_norm_type == "inf") return std::numeric_limits<double>::infinity();
  return recipe.gradient_clip_norm_type == "1" ? 1 : 2;
}

Plateau PlateauOf(const Recipe& recipe) {
  return {recipe.schedule_gamma, recipe.plateau_patience, recipe.plateau_threshold,
          recipe.plateau_cooldown};
}

// By group.
std::vector<double> RatesOf(const Training& training, const Schedule& schedule) {
  std::vector<double> rates;
  double factor = RateFactor(schedule, training.counters.updates);
  if (schedule.shape == Schedule::Shape::kPlateau) {
    factor *= PlateauFactor(training.counters.metrics, PlateauOf(training.plan.recipe));
  }
  for (const double base : training.base_rates) rates.push_back(base * factor);
  return rates;
}

// Without a scaler: whether every gradient is finite. Cost: one pass over the gradients, and one
// copy from the device.
bool AllFinite(const Optimizer& optimizer, const at::Device& device, const Ranks& ranks) {
  std::vector<torch::Tensor> gradients = optimizer.Gradients();
  torch::Tensor found = torch::zeros({1}, device);
  if (!gradients.empty()) {
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found, torch::ones({1}, device));
  }
  return ranks.Largest(found.item<double>()) == 0;
}

// In the order of the model, as clip_grad_norm_(model.parameters()) has them: a norm is a sum, and
// its last bit depends on the order. A tensor that stands under two names counts once; of one that
// is shared out, what this rank keeps.
std::pair<std::vector<torch::Tensor>, std::vector<torch::Tensor>> WeightsWithGradients(
    const torch::nn::Module& module, const Shards* shards) {
  std::vector<torch::Tensor> weights, gradients;
  const auto add = [&](const torch::Tensor& weight) {
    if (!weight.grad().defined() || weight.numel() == 0) return;
    weights.push_back(weight.detach());
    gradients.push_back(weight.grad());
  };
  if (shards != nullptr) {
    for (const Shards::Part& part : shards->parts()) add(part.own);
  } else {
    for (const auto& [name, weight] : TrainedParameters(module)) add(weight);
  }
  return {weights, gradients};
}

}  // namespace

void KeepOwnGradients(Training& training) {
  if (training.distributed.shards) training.distributed.shards->TakeGradients();
}

void Unscale(Training& training) {
  if (!training.scaler_is_on()) return;
  const double scale = training.observer.unscaled ? training.scaler->scale() : 1;
  training.scaler->Unscale(*training.optimizer);
  Tell(training.observer.unscaled, scale);
}

void Clip(Training& training) {
  const Recipe& recipe = training.plan.recipe;
  if (recipe.gradient_clip_algorithm == "none") return;
  const torch::NoGradGuard no_grad;
  const auto [weights, gradients] =
      WeightsWithGradients(*training.model.module, training.distributed.shards.get());
  const double bound = recipe.gradient_clip_val, p = ClipNormOf(recipe);
  const ClipDeviation deviation = training.plan.deviations.clip;
  if (recipe.gradient_clip_algorithm == "norm") {
    std::function<double(double)> combined;
    const NormOfAll& norm_of_all = training.distributed.norm_of_all;
    if (norm_of_all) combined = [&](double own) { return norm_of_all(own, p); };
    training.gradient_norm = ClipByNorm(gradients, bound, p, deviation, combined);
  } else if (recipe.gradient_clip_algorithm == "value") {
    ClipByValue(gradients, bound);
  } else {
    ClipAdaptive(weights, gradients, bound, kAdaptiveFloor, deviation);
  }
  Tell(training.observer.clipped, recipe.gradient_clip_algorithm, bound, p);
}

void SetLearningRates(Training& training) {
  if (training.observer.scheduled) {
    training.observer.scheduled(RatesOf(training, training.asked_schedule));
  }
  std::vector<double> rates = RatesOf(training, training.schedule);
  if (training.plan.rate) {
    std::fill(rates.begin(), rates.end(), training.plan.rate(training.counters.step));
  }
  for (size_t i = 0; i < rates.size(); ++i) training.optimizer->groups()[i].lr = rates[i];
}

void OptimizerStep(Training& training) {
  Tell(training.observer.before_step);
  Optimizer& optimizer = *training.optimizer;
  if (training.scaler_is_on()) {
    training.took_step = training.scaler->Step(optimizer);
    return;
  }
  training.took_step = training.plan.recipe.nonfinite != "skip" ||
                       AllFinite(optimizer, training.device, training.distributed.ranks);
  if (training.took_step) optimizer.Step();
}

void Gather(Training& training) {
  if (!training.distributed.shards) return;
  if (!training.distributed.sharded_parameters) return training.distributed.shards->PutTogether();
  training.distributed.sharded_parameters->Refresh();
}

void CountUpdate(Training& training) {
  training.counters.updates += training.took_step ? 1 : 0;
  training.counters.skipped += training.took_step ? 0 : 1;
  Tell(training.observer.after_step, training.took_step);
}

void UpdateScaler(Training& training) {
  if (training.scaler_is_on()) training.scaler->Update();
}

void SynchronizeBuffers(Training& training) {
  training.distributed.ranks.TakeFromFirst(training.model.module->buffers());
}

void SynchronizeAveragedBuffers(Training& training) {
  if (training.plan.recipe.ema_buffers) SynchronizeBuffers(training);
}

void UpdateEma(Training& training) {
  if (!training.average || !training.took_step) return;
  const Recipe& recipe = training.plan.recipe;
  const int64_t since = training.counters.updates - recipe.swa_start;
  if (recipe.swa_start > 0 && (since < 0 || since % recipe.swa_every != 0)) return;
  // Of a model that is shared out nobody has the whole distance.
  const bool is_whole = !training.distributed.sharded_parameters;
  UpdateWatched(*training.average, *training.model.module, is_whole ? &training.observer : nullptr);
}

void TakeStep(Training& training) {
  training.gradient_norm = torch::Tensor();
  Run(training.plan.phases.step, training);
  training.counters.micro = 0;
  ++training.counters.step;
}

}  // namespace dlcheck::reference
