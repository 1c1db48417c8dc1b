#include "reference/training/window.h"

#include "reference/precision/autocast.h"

namespace dlcheck::reference {
namespace {

// Where class weights are, as sums differ between devices; without them a count is exact anywhere.
double TargetsIn(const Training& training, const torch::Tensor& y) {
  const bool is_weighted = training.loss.class_weights.defined();
  return CountOf(training.loss, is_weighted ? y.to(training.device) : y,
                 training.inputs.data.classes);
}

// Counting takes operators, so a step of one micro-batch, which takes its mean as it is, does
// without. The gradients of ranks are averaged, so each divides by the mean of their targets.
Window NextWindow(const Training& training) {
  const Plan& plan = training.plan;
  const int64_t step = training.counters.step, source = plan.batch_of_step(step);
  Window window;
  for (int64_t micro = 0; micro < training.inputs.batches->MicroBatches(source); ++micro) {
    window.batches.push_back(plan.batch(step, training.inputs.prefetch->At(source, micro)));
  }
  const bool is_parted = window.batches.size() > 1 || plan.recipe.gradient_accumulation_steps > 1 ||
                         training.distributed.ranks.are_many();
  if (!is_parted) return window;
  for (const Batch& batch : window.batches) {
    window.targets.push_back(TargetsIn(training, batch.y));
    window.all_targets += window.targets.back();
  }
  window.all_targets = training.distributed.ranks.Sum(window.all_targets) /
                       static_cast<double>(training.distributed.ranks.world());
  return window;
}

Batch ToDevice(const Batch& batch, const at::Device& device) {
  if (device.is_cpu()) return batch;
  return {batch.x.to(device), batch.y.to(device)};
}

// With one micro-batch it is PyTorch's own mean, to the last bit.
torch::Tensor LossOf(const Training& training, size_t micro, const torch::Tensor& outputs,
                     const torch::Tensor& targets) {
  if (training.inputs.window.targets.empty()) return MeanLoss(training.loss, outputs, targets);
  return SummedLoss(training.loss, outputs, targets) / training.plan.divisor(training, micro);
}

// Where parameters are shared out, operators find them only so.
void InPass(ShardedParameters* shared_out, const std::function<void()>& pass) {
  if (shared_out == nullptr) return pass();
  shared_out->During(pass);
}

// Tokens are numbers of a class at each position.
void CountSeen(Training& training, const Batch& batch) {
  training.seen.samples += static_cast<double>(batch.x.size(0));
  if (batch.x.dim() == 2 && !batch.x.is_floating_point()) {
    training.seen.tokens += static_cast<double>(batch.x.numel());
  }
}

// Reads the losses from the device where somebody wants them: a line of the log, or a run that goes
// on from within this window.
void EndWindow(Training& training, bool is_whole) {
  if (!is_whole || training.LogsStep()) {
    for (const torch::Tensor& loss : training.inputs.window.losses) {
      training.counters.window_loss += loss.item<double>();
    }
  }
  training.inputs.window = {};
}

// Switches the model, and says so, only if it is in the other mode.
void SwitchMode(Training& training, bool to_training) {
  torch::nn::Module& module = *training.model.module;
  if (module.is_training() == to_training) return;
  module.train(to_training);
  Tell(training.observer.mode, to_training);
}

}  // namespace

void EnterTrainingMode(Training& training) { SwitchMode(training, true); }

void EnterEvaluationMode(Training& training) { SwitchMode(training, false); }

void ZeroGradients(Training& training) {
  training.optimizer->ZeroGrad();
  Tell(training.observer.cleared);
}

double TargetsOfWindow(const Training& training, size_t /*micro*/) {
  return training.inputs.window.all_targets;
}

torch::Tensor Forward(Training& training, const torch::Tensor& x) {
  const Plan& plan = training.plan;
  torch::Tensor input = plan.input(x, training.inputs.data.mean_image);
  const bool is_other = plan.recipe.weights != "fp32" && input.is_floating_point();
  if (is_other) input = input.to(WeightType(plan.recipe));
  torch::Tensor outputs;
  InPass(training.distributed.sharded_parameters.get(),
         [&] { outputs = plan.logits(training.model.forward(input)); });
  return outputs;
}

void ForwardBackward(Training& training) {
  const Plan& plan = training.plan;
  Window& window = training.inputs.window;
  const auto micro = static_cast<size_t>(training.counters.micro);
  GradientSharing* sharing = training.distributed.sharing.get();
  const Batch batch = ToDevice(window.batches[micro], training.device);
  const bool is_shared = plan.shares_gradients(micro, window.batches.size());
  Tell(training.observer.batch, batch.x, batch.y);
  if (sharing != nullptr) sharing->BeforeForward(is_shared);
  torch::Tensor loss;
  {
    const AutocastGuard autocast(training.device.type(), training.autocast);
    const torch::Tensor outputs = Forward(training, batch.x);
    loss = plan.loss(training.counters.step, LossOf(training, micro, outputs, batch.y));
    if (training.observer.loss) {
      training.observer.loss(loss, ScoresOf(training.loss, outputs), batch.y);
    }
    if (sharing != nullptr) sharing->BeforeBackward(is_shared, outputs);
  }
  InPass(training.distributed.sharded_parameters.get(),
         [&] { training.scaler->Scale(loss).backward(); });
  if (sharing != nullptr) sharing->AfterBackward(is_shared);
  window.losses.push_back(loss.detach());
  CountSeen(training, batch);
}

bool RunWindow(Training& training, const std::function<bool()>& stops) {
  const Phases& phases = training.plan.phases;
  Counters& counters = training.counters;
  training.plan.step_begins(counters.step);
  training.inputs.window = NextWindow(training);
  const auto count = static_cast<int64_t>(training.inputs.window.batches.size());
  if (counters.micro == 0) {
    const bool is_told = training.scaler_is_on() && training.observer.scaled;
    if (is_told) training.observer.scaled(training.scaler->scale());
    Run(phases.window_begins, training);
  }
  while (counters.micro < count) {
    Run(phases.micro_batch, training);
    ++counters.micro;
    if (counters.micro < count && stops()) break;
  }
  const bool is_whole = counters.micro >= count;
  EndWindow(training, is_whole);
  return is_whole;
}

}  // namespace dlcheck::reference
