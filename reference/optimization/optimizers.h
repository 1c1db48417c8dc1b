// SGD, Adam and AdamW over the fused kernels of ATen, which are bit for bit those of PyTorch's
// Python on the CPU; torch::optim is not. One optimizer with named groups of parameters.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "reference/checkpoint/state.h"

namespace dlcheck::reference {

// Ways of being wrong on purpose.
enum class OptimizerDeviation : uint8_t {
  kNone,
  kEpsilonInsideRoot,  // sqrt(v / (1 - b2^k) + epsilon)
  kNoBiasCorrection,
  kStepsAhead,  // k from 2
  kSwappedBetas,
  kCoupledDecay,  // AdamW decays through the gradient, as Adam does
  kNesterovIgnored,
  kRateInMomentum,     // m = momentum m + lr g;  p -= m
  kMasterFromWeights,  // the master copies are made anew from the weights at each step
};

class Optimizer {
 public:
  enum class Rule : uint8_t { kSgd, kAdam, kAdamW };

  struct Parameter {
    std::string name;
    torch::Tensor tensor;
  };
  struct Group {
    std::string name;
    double lr;
    double weight_decay;
    std::vector<Parameter> parameters;
  };
  struct Options {
    Rule rule = Rule::kSgd;
    double momentum = 0;  // of SGD
    bool nesterov = false;
    double beta1 = 0.9;  // of Adam and AdamW
    double beta2 = 0.999;
    double epsilon = 1e-8;
    bool amsgrad = false;         // the largest v so far in v's place
    bool maximize = false;        // steps up the gradient
    bool master_weights = false;  // bf16 and fp16 weights are updated through copies in fp32
    OptimizerDeviation deviation = OptimizerDeviation::kNone;
  };

  // All parameters lie on one device. The master copies start as the weights are now.
  //
  // Errors: UsageError for Nesterov without momentum.
  Optimizer(const Options& options, std::vector<Group> groups);

  // One update of every parameter that has a gradient; the others keep their value and state.
  //
  // SGD:   m = momentum m + (g + decay p);  p -= lr m, or lr (g + decay p + momentum m) by
  // Nesterov. Adam:  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2, with g + decay p for g;
  //        p -= lr / (1 - b1^k) * m / (sqrt(v / (1 - b2^k)) + epsilon), k from 1.
  // AdamW: as Adam with g alone, after p *= 1 - lr decay.
  //
  // Gradients are first divided by `grad_scale`, and nothing changes where `found_inf` is 1: both
  // fp32 scalars on the device, and no copy from it is needed. Undefined means neither.
  // Source: Kingma and Ba 2015; Loshchilov and Hutter 2019; Reddi et al. 2018 (AMSGrad).
  void Step(const torch::Tensor& grad_scale = {}, const torch::Tensor& found_inf = {});

  // Sets the gradients of all parameters to none.
  void ZeroGrad();

  // Of the parameters that have one, in the order of the groups.
  std::vector<torch::Tensor> Gradients() const;

  const Options& options() const { return asked_; }
  const std::vector<Group>& groups() const { return groups_; }
  std::vector<Group>& groups() { return groups_; }

  // momentum/NAME of SGD with momentum; first/, second/, largest/ (AMSGrad) and steps/NAME of Adam;
  // master/NAME of a weight with a master copy. Rates and options are no state.
  void VisitState(const VisitTensor& visit);

 private:
  // Of one parameter; undefined where the rule has no use for it.
  struct State {
    torch::Tensor momentum, first, second, largest, steps, master;
  };
  State InitialState(const torch::Tensor& weight) const;
  void StepTogether(const Group& group, std::vector<State>& states,
                    const std::vector<size_t>& chosen, const torch::Tensor& grad_scale,
                    const torch::Tensor& found_inf);

  Options asked_;
  Options options_;  // what a deviation makes of them
  std::vector<Group> groups_;
  std::vector<std::vector<State>> states_;  // by group and parameter
};

}  // namespace dlcheck::reference
