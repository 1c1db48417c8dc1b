// A trainer class around a model with batch norm: AdamW, batches in shuffled passes, a warm
// backbone that is frozen for the first pass, a rate set by hand, and checkpoints. Usage: trainer
// [FAULT]
#include <cmath>
#include <cstdlib>

#include "dlcheck/probe.h"
#include "tests/programs_cpp/averaged.h"
#include "tests/programs_cpp/planted.h"

namespace {

using torch::Tensor;

struct ClassifierImpl : torch::nn::Module {
  ClassifierImpl() {
    register_module("backbone", backbone);
    register_module("norm", norm);
    register_module("head", head);
  }
  Tensor forward(const Tensor& x) { return head(detaches ? Features(x).detach() : Features(x)); }
  Tensor Features(const Tensor& x) {
    const torch::AutoGradMode gradients(torch::GradMode::is_enabled() && !guards);
    return torch::gelu(norm(backbone(x)));
  }
  torch::nn::Linear backbone{16, 40};
  torch::nn::BatchNorm1d norm{40};
  torch::nn::Linear head{40, 6};
  bool detaches = false, guards = false;
};
TORCH_MODULE(Classifier);

class Trainer {
 public:
  explicit Trainer(const Planted& planted)
      : planted_(planted), probe_(*model_), optimizer_(probe_.Wrap(MakeOptimizer())) {
    model_->detaches = planted_.Is("detached_backbone");
    model_->guards = planted_.Is("guarded_backbone");
    // The registry keeps the old tensor, and forward takes the new one.
    if (planted_.Is("assigned_member")) {
      model_->backbone->weight = torch::randn({40, 16}).div(4).requires_grad_();
    }
    probe_.Seeded(21);
    probe_.RegisterScheduler(optimizer_.number());
  }

  int Fit() {
    for (int epoch = 0; epoch < 8; ++epoch) {
      Freeze(planted_.Is("frozen_moves") ? epoch >= 4 : epoch == 0);
      const Tensor order = torch::randperm(train_.size());
      for (int64_t begin = 0; begin < train_.size(); begin += 64) {
        Train(train_.Rows(order.slice(0, begin, begin + 64)));
      }
      if (!planted_.Is("never_scheduled") && !planted_.Is("scheduled_first")) SetRate(epoch + 1);
      accuracy_ = Evaluate();
    }
    Save();
    return Report(*model_, accuracy_, accuracy_ > 0.9);
  }

 private:
  torch::optim::AdamW MakeOptimizer() {
    std::vector<Tensor> weights = model_->parameters();
    if (planted_.Is("head_not_optimized")) weights.resize(4);
    return torch::optim::AdamW(weights, torch::optim::AdamWOptions(0.01));
  }

  void Freeze(bool freezes) {
    for (Tensor& parameter : model_->backbone->parameters()) parameter.requires_grad_(!freezes);
  }

  void SetRate(int moves) {
    const double rate = 0.01 * std::pow(planted_.Is("scheduled_first") ? 0.99 : 0.8, moves);
    if (planted_.Is("options_copied")) {
      optimizer_.param_groups()[0].options().clone()->set_lr(rate);
    } else {
      optimizer_.param_groups()[0].options().set_lr(rate);
    }
    next_rate_ = rate;
    probe_.SchedulerStepped(rate);
  }

  void Train(const Samples& batch) {
    ++steps_;
    probe_.Batch(batch.x);
    Tensor logits = model_->forward(batch.x);
    if (planted_.Is("doubled_softmax")) logits = torch::softmax(logits, 1);
    const Tensor loss = torch::nn::functional::cross_entropy(logits, batch.y);
    probe_.Loss(loss, logits, batch.y);
    // Gradients that are zero, not none, let momentum and decay move what is frozen.
    const bool to_none = !planted_.Is("frozen_moves");
    if (!planted_.Is("uncleared")) optimizer_.zero_grad(to_none);
    if (planted_.Is("step_first")) optimizer_.step();
    loss.backward({}, /*retain_graph=*/planted_.Is("retained"));
    if (!planted_.Is("clipped_late")) Clip();
    if (planted_.Is("cleared_before_step")) optimizer_.zero_grad();
    if (planted_.Is("scheduled_first")) SetRate(static_cast<int>(steps_));
    probe_.ExpectLearningRates({next_rate_});
    if (!planted_.Is("step_first")) optimizer_.step();
    if (planted_.Is("clipped_late")) Clip();
    average_.Update(probe_);
  }

  void Clip() {
    torch::nn::utils::clip_grad_norm_(model_->parameters(), 0.5);
    probe_.Clip("norm", 0.5, 2);
  }

  double Evaluate() {
    probe_.BeginEvaluation();
    SetMode(planted_.Is("evaluated_in_training"));
    torch::AutoGradMode gradients(planted_.Is("evaluated_with_gradients"));
    double right = 0, sum = 0;
    for (int64_t begin = 0; begin < held_out_.size(); begin += 64) {
      const Samples batch = held_out_.From(begin, 64);
      const Tensor logits = model_->forward(batch.x);
      probe_.EvaluationOutputs(logits, batch.y);
      sum += torch::nn::functional::cross_entropy(logits, batch.y).item<double>();
      right += logits.argmax(1).eq(batch.y).sum().item<double>();
    }
    probe_.EndEvaluation(sum / 4, held_out_.size());
    if (!planted_.Is("left_in_evaluation")) SetMode(true);
    return right / static_cast<double>(held_out_.size());
  }

  void SetMode(bool training) {
    model_->train(training);
    probe_.SetTraining(training);
  }

  // In memory: what a file would hold is what was put into it.
  void Save() {
    dlcheck::Probe::NamedTensors state, stored;
    for (const auto& item : model_->named_parameters()) {
      state.emplace_back("model/" + item.key(), item.value().detach());
    }
    stored = state;
    for (const auto& item : model_->named_buffers()) {
      state.emplace_back("buffers/" + item.key(), item.value());
      if (!planted_.Is("buffers_not_saved"))
        stored.emplace_back("buffers/" + item.key(), item.value());
    }
    probe_.Saved("model.pt", state, stored);
  }

  const Planted& planted_;
  const Samples train_ = Clusters(1024, 1), held_out_ = Clusters(256, 2);
  Classifier model_;
  dlcheck::Probe probe_;
  dlcheck::Watched<torch::optim::AdamW> optimizer_;
  Averaged average_{*model_, planted_.Is("copied_holder")};
  int64_t steps_ = 0;
  double next_rate_ = 0.01, accuracy_ = 0;
};

}  // namespace

int main(int count, char** arguments) {
  torch::manual_seed(21);
  const Planted planted(count, arguments);
  return Trainer(planted).Fit();
}
