#include "reference/training/loop.h"

#include <algorithm>

namespace dlcheck::reference {
namespace {

void SwitchMode(Training& training, bool to_training) {
  torch::nn::Module& module = *training.model.module;
  if (module.is_training() == to_training) return;
  module.train(to_training);
  Tell(training.observer.mode, to_training);
}

// Logits (B, C) of a batch (B, ...).
torch::Tensor Forward(Training& training, const torch::Tensor& x) {
  const Plan& plan = training.plan;
  return plan.logits(training.model.forward(plan.input(x, training.dataset.mean_image)));
}

Scores Evaluate(Training& training) {
  const torch::NoGradGuard no_grad;
  SwitchMode(training, false);
  const Batch& val = training.dataset.val;
  const int64_t samples = val.y.size(0);
  const int64_t batch_size = training.plan.recipe.batch_size;
  Scores sums;
  for (int64_t first = 0; first < samples; first += batch_size) {
    const int64_t last = std::min(first + batch_size, samples);
    const torch::Tensor targets = val.y.slice(0, first, last);
    const torch::Tensor logits = Forward(training, val.x.slice(0, first, last));
    Tell(training.observer.evaluation_outputs, logits, targets);
    sums.loss += torch::cross_entropy_loss(logits, targets, {}, at::Reduction::Sum).item<double>();
    sums.accuracy += logits.argmax(1).eq(targets).sum().item<double>();
  }
  const auto count = static_cast<double>(samples);
  const Scores means{sums.loss / count, sums.accuracy / count};
  Tell(training.observer.evaluated, means.loss, samples);
  return means;
}

// The loss of the batch of this step, before its update.
torch::Tensor TrainStep(Training& training, int64_t step) {
  const Plan& plan = training.plan;
  const Observer& observer = training.observer;

  plan.step_begins(step);
  const auto [x, y] = plan.batch(step, training.batches.At(plan.batch_of_step(step)));
  Tell(observer.batch, x, y);

  SwitchMode(training, true);
  if (plan.clears_gradients) {
    training.optimizer.ZeroGrad();
    Tell(observer.cleared);
  }
  const torch::Tensor logits = Forward(training, x);
  const torch::Tensor loss = plan.loss(step, torch::cross_entropy_loss(logits, y));
  Tell(observer.loss, loss, logits, y);
  loss.backward();

  Tell(observer.before_step);
  training.optimizer.Step();
  Tell(observer.after_step);
  return loss.detach();
}

}  // namespace

Scores Train(Training& training) {
  const Recipe& recipe = training.plan.recipe;
  for (int64_t step = 0; step < recipe.steps; ++step) {
    if (step % recipe.evaluate_every == 0) {
      const Scores scores = Evaluate(training);
      training.progress.Evaluated(step, scores.loss, scores.accuracy);
    }
    const torch::Tensor loss = TrainStep(training, step);
    training.progress.Stepped(step, [&] { return loss.item<double>(); });
  }
  return Evaluate(training);
}

}  // namespace dlcheck::reference
