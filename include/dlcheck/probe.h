// The probe for C++ programs with a training loop of their own: two lines, and `dlcheck run -- CMD`
// sees what the loop does.
//
//   dlcheck::Probe probe(*model);
//   auto optimizer = probe.Wrap(torch::optim::SGD(model->parameters(), 0.1));
//
// Everything else is optional and makes more checks possible. Without `dlcheck run` each call costs
// one branch. The probe changes no value, draws no random number and throws nothing. It watches one
// thread; the model must outlive it. C++17.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace dlcheck {

class ProbeRecorder;
template <typename TorchOptimizer>
class Watched;

class Probe {
 public:
  struct Options {
    // Experiments that the program can be, for a program that reads the request itself.
    std::string capabilities = "plain same_seed";
  };
  // The source line of a call.
  struct Site {
    const char* file;
    int line;
    const char* function;
    static Site Here(const char* file = __builtin_FILE(), int line = __builtin_LINE(),
                     const char* function = __builtin_FUNCTION()) {
      return {file, line, function};
    }
  };
  struct Group {
    std::vector<std::pair<std::string, torch::Tensor>> parameters;  // names for those of no model
    std::function<double()> rate;
    std::function<double()> weight_decay = {};
  };
  using NamedTensors = std::vector<std::pair<std::string, torch::Tensor>>;
  // What an optimizer says it does, so that its steps can be worked out again.
  struct Rule {
    std::string name = {};  // sgd, adam, adamw, rmsprop, adagrad, nadam; empty: not known
    double momentum = 0;
    bool nesterov = false, centered = false;  // of sgd, of rmsprop
    double beta1 = 0.9;
    double beta2 = 0.999;
    double epsilon = 1e-8;
    double alpha = 0.99, lr_decay = 0, momentum_decay = 4e-3;  // of rmsprop, adagrad and nadam
    // momentum, first, second (averages, or the sum, of gradients and squares), product (of nadam's
    // momenta), steps or master (a copy in higher precision, which steps move) of a parameter as
    // they are now; undefined where the rule has none.
    std::function<torch::Tensor(const std::string& field, const torch::Tensor& parameter)> state =
        {};
    // Whether it keeps anything from one step to the next, as momenta; empty: not known.
    std::function<bool()> keeps_state = {};
  };

  Probe() : Probe(Options()) {}
  explicit Probe(const Options& options);
  explicit Probe(torch::nn::Module& model) : Probe(model, Options()) {}
  Probe(torch::nn::Module& model, const Options& options);
  ~Probe();
  Probe(const Probe&) = delete;
  Probe& operator=(const Probe&) = delete;

  // True in a program started by `dlcheck run`.
  bool active() const { return recorder_ != nullptr; }
  // True while the step under way is one of those that are recorded in full: for what costs the
  // program something to work out.
  bool Sampled() const;

  // A model to watch; the first is model 0.
  void Watch(torch::nn::Module& model);

  // Of many that train together; then those whose weights and gradients are to be the same at every
  // step, as under DDP. Before the first step.
  void Rank(int rank, int world);
  void ReplicaGroup(const std::vector<int>& ranks);

  // Watches an optimizer of torch::optim; the result is used in its place.
  template <typename TorchOptimizer>
  Watched<TorchOptimizer> Wrap(TorchOptimizer optimizer);

  // Watches any other optimizer: returns its number, for the three calls below, which the program
  // then makes around each step and each clearing. `type` is its name in reports.
  int RegisterOptimizer(std::string_view type, std::vector<Group> groups) {
    return RegisterOptimizer(type, std::move(groups), Rule());
  }
  int RegisterOptimizer(std::string_view type, std::vector<Group> groups, Rule rule);
  void BeforeStep(int optimizer = 0);
  // `taken` is false if the step left the weights alone, as a loss scaler decides.
  void AfterStep(int optimizer = 0, Site site = Site::Here(), bool taken = true);
  void ZeroGrad(int optimizer = 0, Site site = Site::Here());

  // The inputs of the next forward pass, batch dimension first.
  void Batch(const torch::Tensor& inputs, Site site = Site::Here());
  void SetTraining(bool training, Site site = Site::Here());
  // Before backward, without the scale of a loss scaler. The second also tells what an untrained
  // model's outputs are worth, and whether they are what the loss takes: outputs (N, C) with class
  // numbers (N), for cross entropy; or two tensors of one shape, for the mean squared error, as
  // they went into it.
  void Loss(const torch::Tensor& loss, Site site = Site::Here());
  void Loss(const torch::Tensor& loss, const torch::Tensor& outputs, const torch::Tensor& targets,
            Site site = Site::Here());

  // Before an evaluation and, where averaged weights take the place of the live ones for it, before
  // they do; during it; and at its end, when the live ones are back. `loss` is the mean over
  // `samples`.
  void BeginEvaluation();
  void EvaluationOutputs(const torch::Tensor& outputs, const torch::Tensor& targets);
  void EndEvaluation(double loss, int64_t samples);
  // Of a trial; see the quantity future_sensitivity.
  void FutureSensitivity(double share, double rounding);

  void Seeded(int64_t seed, Site site = Site::Here());
  void Clip(double bound, Site site = Site::Here());
  // `kind` is norm, value or adaptive; `p` which norm.
  void Clip(std::string_view kind, double bound, double p, Site site = Site::Here());
  // The loss scale of this step, before its first forward pass; then that gradients were unscaled.
  void LossScale(double scale);
  void Unscaled(double scale, Site site = Site::Here());
  // A scheduler was built for `moves`, 0 if it has no end; it moved, which gave the first group
  // `rate`. Its optimizer may be left out where there is only one.
  void RegisterScheduler(int optimizer = 0, int64_t moves = 0);
  void SchedulerStepped(double rate, Site site = Site::Here());
  void SchedulerStepped(int optimizer, double rate, Site site = Site::Here());
  // What the schedule gives for this step, by group, before it.
  void ExpectLearningRates(const std::vector<double>& rates, int optimizer = 0);
  void Epoch(int64_t number);
  // After an update of averaged weights: L2 norms.
  void EmaUpdated(double distance, double moved);
  // What the program is meant to do, for checks that could not know it otherwise; `key` is what
  // the checks name, such as "accumulation" with value "mean".
  void Declare(std::string_view key, std::string_view value);
  // Two names of what is to be one parameter of the model watched first.
  void DeclareTied(std::string_view one, std::string_view other);

  // All state, before a step at which WantsState says so; names have slashes between levels.
  bool WantsState() const;
  void State(const NamedTensors& state);
  // `stored` is what the file holds, read back.
  void Saved(std::string_view path, const NamedTensors& state, const NamedTensors& stored);
  void Saved(std::string_view path);
  void Loaded(std::string_view path);
  // The program refuses a file and is about to end.
  void Rejected(std::string_view file, std::string_view cause);

 private:
  template <typename TorchOptimizer>
  friend class Watched;
  // The two halves of BeforeStep: a closure computes the gradients between them.
  void BeginStep(int optimizer);
  void Consume(int optimizer);

  std::unique_ptr<ProbeRecorder> recorder_;  // none where nobody asked
};

}  // namespace dlcheck

#include "dlcheck/watched_optimizer.h"  // IWYU pragma: export
