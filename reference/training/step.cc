#include "reference/training/step.h"

#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "reference/distributed/ddp/trained_parameters.h"
#include "reference/optimization/clipping.h"
#include "reference/precision/autocast.h"

namespace dlcheck::reference {
namespace {

constexpr double kAdaptiveFloor = 1e-3;

double ClipNormOf(const Recipe& recipe) {
  if (recipe.gradient_clip_norm_type == "inf") return std::numeric_limits<double>::infinity();
  return recipe.gradient_clip_norm_type == "1" ? 1 : 2;
}

// The rates of this step, by group.
std::vector<double> RatesOf(const Training& training, const Schedule& schedule) {
  std::vector<double> rates;
  const double factor = RateFactor(schedule, training.counters.updates);
  for (const double base : training.base_rates) rates.push_back(base * factor);
  return rates;
}

void SetRates(Training& training) {
  if (training.observer.scheduled) {
    Schedule as_it_ought_to_be = training.schedule;
    as_it_ought_to_be.deviation = ScheduleDeviation::kNone;
    training.observer.scheduled(RatesOf(training, as_it_ought_to_be));
  }
  const double factor = RateFactor(training.schedule, training.counters.updates);
  std::vector<Optimizer::Group>& groups = training.optimizer->groups();
  for (size_t i = 0; i < groups.size(); ++i) {
    if (i > 0 && training.plan.deviations.rate == RateDeviation::kFirstGroupAlone) break;
    groups[i].lr = training.base_rates[i] * factor;
  }
}

// Without a scaler: whether every gradient is finite. Cost: one pass over the gradients.
bool AllFinite(const Training& training) {
  std::vector<torch::Tensor> gradients = training.optimizer->Gradients();
  torch::Tensor found = torch::zeros({1}, training.device);
  if (!gradients.empty()) {
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found,
                                                   torch::ones({1}, training.device));
  }
  return training.ranks.Largest(found.item<double>()) == 0;
}

// The p-norm of the parts of all `ranks` together, from that of this rank's part.
double NormOfAll(const Ranks& ranks, double norm, double p) {
  // A largest number need not show what is none.
  if (ranks.Largest(std::isnan(norm) ? 1 : 0) > 0) return std::nan("");
  if (std::isinf(p)) return ranks.Largest(norm);
  return std::pow(ranks.Sum(std::pow(norm, p)), 1 / p);
}

// False if the step was left out.
bool StepOptimizer(Training& training) {
  Optimizer& optimizer = *training.optimizer;
  const OrderDeviation order = training.plan.deviations.order;
  if (order == OrderDeviation::kNotUnscaled || order == OrderDeviation::kNonFiniteTaken) {
    optimizer.Step();
    return true;
  }
  if (training.scaler_is_on()) return training.scaler->Step(optimizer);
  if (training.plan.recipe.nonfinite == "skip" && !AllFinite(training)) {
    return false;
  }
  optimizer.Step();
  return true;
}

// The values of the weights that are averaged, to say how far an update took the average.
std::vector<torch::Tensor> Copies(const torch::nn::Module& module) {
  std::vector<torch::Tensor> copies;
  for (const torch::Tensor& parameter : module.parameters()) {
    copies.push_back(parameter.detach().to(at::kDouble, /*non_blocking=*/false, /*copy=*/true));
  }
  return copies;
}

double Distance(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  double squares = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    squares += (a[i] - b[i]).square().sum().item<double>();
  }
  return std::sqrt(squares);
}

void UpdateAverage(Training& training) {
  if (!training.average) return;
  const torch::NoGradGuard no_grad;
  Average& average = *training.average;
  const Observer& observer = training.observer;
  // Of a model that is shared out nobody has the whole distance.
  const bool is_told = !training.sharded_parameters && observer.wants_averaged;
  if (!is_told || !observer.wants_averaged()) return average.Update();
  const torch::nn::Module& module = *training.model.module;
  const std::vector<torch::Tensor> live = Copies(module);
  average.Exchange();
  const std::vector<torch::Tensor> before = Copies(module);
  average.Exchange();
  average.Update();
  average.Exchange();
  const std::vector<torch::Tensor> after = Copies(module);
  average.Exchange();
  Tell(observer.averaged, Distance(after, live), Distance(after, before));
}

// In the order of the model, as clip_grad_norm_(model.parameters()) has them: a norm is a sum, and
// its last bit depends on the order. A tensor that stands under two names counts once; of one that
// is shared out, what this rank keeps.
std::pair<std::vector<torch::Tensor>, std::vector<torch::Tensor>> WeightsWithGradients(
    const Training& training) {
  std::vector<torch::Tensor> weights, gradients;
  const auto add = [&](const torch::Tensor& weight) {
    if (!weight.grad().defined() || weight.numel() == 0) return;
    weights.push_back(weight.detach());
    gradients.push_back(weight.grad());
  };
  if (training.shards) {
    for (const Shards::Part& part : training.shards->parts()) add(part.own);
  } else {
    for (const auto& [name, weight] : TrainedParameters(*training.model.module)) add(weight);
  }
  return {weights, gradients};
}

void Unscale(Training& training) {
  if (!training.scaler_is_on() || training.plan.deviations.order == OrderDeviation::kNotUnscaled) {
    return;
  }
  const double scale = training.observer.unscaled ? training.scaler->scale() : 1;
  training.scaler->Unscale(*training.optimizer);
  Tell(training.observer.unscaled, scale);
}

// The model, after what the ranks keep of it has changed.
void PutTogether(const Training& training) {
  const bool is_left_out = training.plan.deviations.ranks == RanksDeviation::kNotPutTogether;
  if (!training.shards || is_left_out) return;
  if (!training.sharded_parameters) return training.shards->PutTogether();
  training.sharded_parameters->Refresh();
}

}  // namespace

void Clip(Training& training) {
  const Recipe& recipe = training.plan.recipe;
  if (recipe.gradient_clip_algorithm == "none") return;
  const torch::NoGradGuard no_grad;
  const auto [weights, gradients] = WeightsWithGradients(training);
  const double p = recipe.gradient_clip_algorithm == "norm" ? ClipNormOf(recipe) : 0;
  const ClipDeviation deviation = training.plan.deviations.clip;
  if (recipe.gradient_clip_algorithm == "norm") {
    std::function<double(double)> combined;
    if (training.shards && training.plan.deviations.ranks != RanksDeviation::kNormOfPart) {
      combined = [&](double norm) { return NormOfAll(training.shards->ranks(), norm, p); };
    }
    training.gradient_norm =
        ClipByNorm(gradients, recipe.gradient_clip_val, p, deviation, combined);
  } else if (recipe.gradient_clip_algorithm == "value") {
    ClipByValue(gradients, recipe.gradient_clip_val);
  } else {
    ClipAdaptive(weights, gradients, recipe.gradient_clip_val, kAdaptiveFloor, deviation);
  }
  Tell(training.observer.clipped, recipe.gradient_clip_algorithm, recipe.gradient_clip_val, p);
}

void TakeBuffersOfFirst(Training& training) {
  if (training.plan.deviations.ranks == RanksDeviation::kOwnBuffers) return;
  training.ranks.TakeFromFirst(training.model.module->buffers());
}

void TakeStep(Training& training) {
  const OrderDeviation order = training.plan.deviations.order;
  training.gradient_norm = torch::Tensor();
  if (training.shards) training.shards->TakeGradients();
  if (order == OrderDeviation::kClippedBeforeUnscale) Clip(training);
  Unscale(training);
  const bool clips_here = order != OrderDeviation::kClippedBeforeUnscale &&
                          order != OrderDeviation::kClippedInsideWindow &&
                          order != OrderDeviation::kClippedAfterStep;
  if (clips_here) Clip(training);
  SetRates(training);
  std::optional<AutocastGuard> autocast;
  if (order == OrderDeviation::kAutocastAroundStep) {
    autocast.emplace(training.device.type(), at::kBFloat16);
  }
  Tell(training.observer.before_step);
  const bool taken = StepOptimizer(training);
  PutTogether(training);
  Tell(training.observer.after_step, taken);
  if (order == OrderDeviation::kClippedAfterStep) Clip(training);
  if (training.scaler_is_on() && order != OrderDeviation::kNotUnscaled) training.scaler->Update();
  if (training.plan.recipe.ema_buffers) TakeBuffersOfFirst(training);
  if (taken) UpdateAverage(training);
  Counters& counters = training.counters;
  counters.updates += taken ? 1 : 0;
  counters.skipped += taken ? 0 : 1;
  counters.micro = 0;
  ++counters.step;
}

}  // namespace dlcheck::reference
