#include "reference/training/trials.h"

#include "reference/recipe/built_in_models.h"
#include "reference/training/window.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kSamples = 2;

double RelativeDistance(const torch::Tensor& one, const torch::Tensor& other) {
  const double size = one.to(at::kDouble).norm().item<double>();
  return size == 0 ? 0 : (one - other).to(at::kDouble).norm().item<double>() / size;
}

// Outputs at the first half of the positions, with the tokens of the second half as they are and
// all of them replaced. Rounding: the same sample alone and among others.
void TryFuture(Training& training) {
  const Batch batch = training.inputs.data.train->Take({0, 1});
  const int64_t context = batch.x.size(1), half = context / 2;
  const torch::Tensor tokens = batch.x.to(training.device);
  torch::Tensor changed = tokens.clone();
  changed.slice(1, half).add_(1).remainder_(training.inputs.data.classes);
  const auto early = [&](const torch::Tensor& x) { return Forward(training, x).slice(1, 0, half); };
  const torch::Tensor outputs = early(tokens);
  const double share = RelativeDistance(outputs, early(changed));
  const torch::Tensor alone = early(tokens.slice(0, 0, 1));
  const double rounding = RelativeDistance(outputs.slice(0, 0, 1), alone);
  Tell(training.observer.future_sensitivity, share, rounding);
}

}  // namespace

void RunTrials(Training& training) {
  if (!TakesTokens(training.plan.recipe.model) || training.inputs.data.train->rows() < kSamples)
    return;
  const torch::NoGradGuard no_grad;
  torch::nn::Module& module = *training.model.module;
  const bool was_training = module.is_training();
  module.eval();
  TryFuture(training);
  module.train(was_training);
}

}  // namespace dlcheck::reference
