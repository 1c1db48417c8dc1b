// What an untrained model's outputs are worth, for the C++ probe: sums over outputs and targets
// seen before the first step ends, in double precision. The same three losses as the Python probe's
// initial_loss.py, for cross entropy over class numbers and for the mean squared error.
//
// Letters: N samples, C classes.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "checks/observe/probe/probe_clock.h"

namespace dlcheck {

// "cross_entropy", "mse", or "" if outputs and targets are neither.
std::string LossKind(const at::Tensor& outputs, const at::Tensor& targets);

// The thing of a loss of that kind, described when it is new. `function`: its name in
// torch::nn::functional; empty: that of its kind.
uint32_t LossThing(ProbeClock& clock, const std::string& kind, int64_t classes,
                   const std::string& function = "");

// The same of one that was given these outputs.
uint32_t ThingOfLoss(ProbeClock& clock, const std::string& kind, const std::string& function,
                     const at::Tensor& outputs);

// The mean loss of that kind, one element in float64, and the number of targets; undefined if they
// are none, or too many to go through in every step, or the kind is another than cross_entropy, nll
// and mse.
std::pair<at::Tensor, int64_t> MeanLossOf(const std::string& kind, const at::Tensor& outputs,
                                          const at::Tensor& targets);

// True if the loss is the mean square of all differences between outputs and targets of different
// numbers of dimensions, which broadcast, as (N, 1) with (N) do. Works it out; waits for it.
bool ComparesAll(const at::Tensor& loss, const at::Tensor& outputs, const at::Tensor& targets);

// "softmax" if outputs are what a softmax made and cross entropy, which the loss came from, took as
// they are, as the graph tells; else "".
std::string InputFrom(const at::Tensor& loss, const at::Tensor& outputs);

class InitialLosses {
 public:
  // Shapes: outputs (N, C) with whole-number targets (N), or both of one shape.
  // Takes the first few thousand samples; a call of another kind than the first is left out.
  void Add(const std::string& kind, const at::Tensor& outputs, const at::Tensor& targets);

  // Writes the losses, if anything was added.
  void Write(ProbeClock& clock);

 private:
  void AddClasses(const at::Tensor& outputs, const at::Tensor& targets);
  void AddNumbers(const at::Tensor& outputs, const at::Tensor& targets);
  void Keep(const std::vector<at::Tensor>& parts);

  std::string kind_;
  int64_t samples_ = 0, classes_ = 0;
  double elements_ = 0;
  std::vector<at::Tensor> sums_;
};

}  // namespace dlcheck
