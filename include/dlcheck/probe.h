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

  // A model to watch; the first is model 0.
  void Watch(torch::nn::Module& model);

  // Watches an optimizer of torch::optim; the result is used in its place.
  template <typename TorchOptimizer>
  Watched<TorchOptimizer> Wrap(TorchOptimizer optimizer);

  // Watches any other optimizer: returns its number, for the three calls below, which the program
  // then makes around each step and each clearing. `type` is its name in reports.
  int Optimizes(std::string_view type, std::vector<Group> groups);
  void BeforeStep(int optimizer = 0);
  void AfterStep(int optimizer = 0, Site site = Site::Here());
  void Cleared(int optimizer = 0, Site site = Site::Here());

  // The inputs of the next forward pass, batch dimension first.
  void Batch(const torch::Tensor& inputs, Site site = Site::Here());
  void Training(bool training, Site site = Site::Here());
  // Before backward. The second also tells what an untrained model's outputs are worth: outputs
  // (N, C) with class numbers (N), for cross entropy; or two tensors of one shape, for the mean
  // squared error.
  void Loss(const torch::Tensor& loss, Site site = Site::Here());
  void Loss(const torch::Tensor& loss, const torch::Tensor& outputs, const torch::Tensor& targets,
            Site site = Site::Here());

  // During an evaluation, and at its end; `loss` is the mean over `samples`.
  void EvaluationOutputs(const torch::Tensor& outputs, const torch::Tensor& targets);
  void Evaluated(double loss, int64_t samples);

  void Seeded(int64_t seed, Site site = Site::Here());
  void Clip(double bound, Site site = Site::Here());
  void Schedule(double rate, Site site = Site::Here());
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
