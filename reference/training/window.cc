#include "reference/training/window.h"

#include <optional>
#include <utility>

#include "reference/precision/autocast.h"
#include "reference/training/step.h"

namespace dlcheck::reference {
namespace {

Batch ToDevice(Batch batch, const at::Device& device) {
  if (device.is_cpu()) return batch;
  return {batch.x.to(device), batch.y.to(device)};
}

// All micro-batches of a window, because the number of targets in all of them divides each.
std::vector<Batch> TakeWindow(Training& training, int64_t step) {
  const int64_t source = training.plan.batch_of_step(step);
  std::vector<Batch> window;
  for (int64_t micro = 0; micro < training.batches->MicroBatches(source); ++micro) {
    Batch batch = ToDevice(training.prefetch->At(source, micro), training.device);
    window.push_back(training.plan.batch(step, std::move(batch)));
  }
  return window;
}

// What a micro-batch's sum of losses is divided by: the targets of the whole window on all ranks.
// Counting them takes operators, so a step of one micro-batch, which takes its mean as it is, does
// without.
bool NeedsShares(const Training& training, const std::vector<Batch>& window) {
  return window.size() > 1 || training.plan.recipe.gradient_accumulation_steps > 1 ||
         training.ranks.are_many();
}

class Shares {
 public:
  Shares(const Training& training, const std::vector<Batch>& window)
      : deviation_(training.plan.deviations.accumulation),
        micro_batches_(static_cast<double>(window.size())) {
    if (!NeedsShares(training, window)) return;
    for (const Batch& batch : window) {
      counts_.push_back(CountOf(training.loss, batch.y, training.data.classes));
      total_ += counts_.back();
    }
    total_ = OnAverage(training, total_);
    full_ = counts_.front() * static_cast<double>(training.plan.recipe.gradient_accumulation_steps);
  }

  double DivisorOf(size_t micro) const {
    switch (deviation_) {
      case AccumulationDeviation::kNone:
        return total_;
      case AccumulationDeviation::kNotDivided:
        return counts_[micro];
      case AccumulationDeviation::kDividedTwice:
        return total_ * micro_batches_;
      case AccumulationDeviation::kMeanOfMeans:
        return counts_[micro] * micro_batches_;
      case AccumulationDeviation::kFullWindow:
        return full_;
    }
    return total_;
  }

 private:
  // Of the ranks: what each divides by, as the gradients of all are averaged.
  static double OnAverage(const Training& training, double total) {
    const RanksDeviation deviation = training.plan.deviations.ranks;
    if (!training.ranks.are_many() || deviation == RanksDeviation::kMeanOfRankMeans) return total;
    const auto world = static_cast<double>(training.ranks.world());
    const double average = training.ranks.Sum(total) / world;
    return deviation == RanksDeviation::kScaledByWorld ? average / world : average;
  }

  AccumulationDeviation deviation_;
  double micro_batches_;
  std::vector<double> counts_;
  double total_ = 0;
  double full_ = 0;
};

// With one micro-batch it is PyTorch's own mean, to the last bit.
torch::Tensor LossOf(Training& training, const std::vector<Batch>& window, const Shares& shares,
                     size_t micro, const torch::Tensor& outputs) {
  const torch::Tensor& targets = window[micro].y;
  if (!NeedsShares(training, window)) return MeanLoss(training.loss, outputs, targets);
  return SumOfLoss(training.loss, outputs, targets).sum / shares.DivisorOf(micro);
}

// Where parameters are shared out, operators find them only so.
void InPass(const Training& training, const std::function<void()>& pass) {
  if (!training.sharded_parameters) return pass();
  training.sharded_parameters->During(pass);
}

void RunMicroBatch(Training& training, const std::vector<Batch>& window, const Shares& shares,
                   size_t micro) {
  const Observer& observer = training.observer;
  const auto& [x, y] = window[micro];
  const bool is_early = training.plan.deviations.ranks == RanksDeviation::kSharedTooEarly;
  const bool is_shared = is_early ? micro == 0 : micro + 1 == window.size();
  Tell(observer.batch, x, y);
  if (training.sharing) training.sharing->BeforeForward(is_shared);
  torch::Tensor loss;
  {
    std::optional<AutocastGuard> autocast;
    if (AutocastType(training.plan) != at::kFloat) {
      autocast.emplace(training.device.type(), AutocastType(training.plan));
    }
    const torch::Tensor outputs = Forward(training, x);
    loss = training.plan.loss(training.counters.step,
                              LossOf(training, window, shares, micro, outputs));
    Tell(observer.loss, loss, outputs, y);
    if (training.sharing) training.sharing->BeforeBackward(is_shared, outputs);
  }
  InPass(training, [&] { training.scaler->Scale(loss).backward(); });
  if (training.sharing) training.sharing->AfterBackward(is_shared);
  // A window may be left and gone on with by a run that logs otherwise.
  const bool counts = training.LogsStep() || window.size() > 1;
  if (counts) training.counters.window_loss += loss.item<double>();
}

void Clear(Training& training) {
  if (!training.plan.clears_gradients) return;
  training.optimizer->ZeroGrad();
  Tell(training.observer.cleared);
}

}  // namespace

at::ScalarType AutocastType(const Plan& plan) {
  if (plan.deviations.autocast_left_out) return at::kFloat;
  if (plan.recipe.autocast == "bf16") return at::kBFloat16;
  return plan.recipe.autocast == "fp16" ? at::kHalf : at::kFloat;
}

void SwitchMode(Training& training, bool to_training) {
  torch::nn::Module& module = *training.model.module;
  if (module.is_training() == to_training) return;
  module.train(to_training);
  Tell(training.observer.mode, to_training);
}

torch::Tensor Forward(Training& training, const torch::Tensor& x) {
  const Plan& plan = training.plan;
  torch::Tensor input = plan.input(x, training.data.mean_image);
  const bool is_other = plan.recipe.weights != "fp32" && input.is_floating_point();
  if (is_other) input = input.to(WeightType(plan.recipe));
  torch::Tensor outputs;
  InPass(training, [&] { outputs = plan.logits(training.model.forward(input)); });
  return outputs;
}

bool RunWindow(Training& training, const std::function<bool()>& stops) {
  const OrderDeviation order = training.plan.deviations.order;
  Counters& counters = training.counters;
  training.plan.step_begins(counters.step);
  const std::vector<Batch> window = TakeWindow(training, counters.step);
  const Shares shares(training, window);
  const auto count = static_cast<int64_t>(window.size());
  if (counters.micro == 0 && training.scaler_is_on()) {
    Tell(training.observer.scaled, training.scaler->scale());
  }
  while (counters.micro < count) {
    if (counters.micro == 0 || order == OrderDeviation::kClearedInsideWindow) Clear(training);
    RunMicroBatch(training, window, shares, static_cast<size_t>(counters.micro));
    if (order == OrderDeviation::kClippedInsideWindow) Clip(training);
    ++counters.micro;
    if (counters.micro < count && stops()) return false;
  }
  return true;
}

}  // namespace dlcheck::reference
