// Optimizers that are bit for bit those of PyTorch's Python on the CPU, which torch::optim is not:
// SGD, Adam and AdamW over the fused kernels of ATen, and more by rules.h. One optimizer with named
// groups of parameters.
#pragma once

#include <torch/torch.h>

#include <optional>
#include <string>
#include <vector>

#include "reference/checkpoint/state.h"
#include "reference/optimization/optimizer_options.h"
#include "reference/optimization/parameter_state.h"

namespace dlcheck::reference {

class Optimizer {
 public:
  using Rule = OptimizerRule;
  using Options = OptimizerOptions;

  struct Parameter {
    std::string name;
    torch::Tensor tensor;
  };
  struct Group {
    std::string name;
    double lr;
    double weight_decay;
    std::vector<Parameter> parameters;
    std::optional<Rule> rule = std::nullopt;  // the optimizer's own for none
  };
  // All parameters lie on one device. The master copies start as the weights are now.
  //
  // Errors: UsageError for Nesterov without momentum, and for Muon of what is no matrix.
  Optimizer(const Options& options, std::vector<Group> groups);

  // One update of every parameter that has a gradient; the others keep their value and state.
  //
  // SGD:   m = momentum m + (g + decay p);  p -= lr m, or lr (g + decay p + momentum m) by
  // Nesterov. Adam:  m = b1 m + (1 - b1) g;  v = b2 v + (1 - b2) g^2, with g + decay p for g;
  //        p -= lr / (1 - b1^k) * m / (sqrt(v / (1 - b2^k)) + epsilon), k from 1.
  // AdamW: as Adam with g alone, after p *= 1 - lr decay. The others: see rules.h.
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

  // PART/NAME of each part of its state that a parameter has, see kStateParts. Rates and options
  // are no state.
  void VisitState(const VisitTensor& visit);

  // True for schedule-free AdamW, whose averages are what is to be evaluated and used.
  bool has_averages() const { return options_.rule == Rule::kScheduleFree; }

  // Swaps the weights with those averages; called again, swaps them back. Neither steps nor
  // checkpoints belong between the two calls.
  void ExchangeAverages();

 private:
  Rule RuleOf(const Group& group) const;
  ParameterState StartOf(const Group& group, const Parameter& parameter) const;
  void StepTogether(const Group& group, std::vector<ParameterState>& states,
                    const std::vector<size_t>& chosen, const torch::Tensor& grad_scale,
                    const torch::Tensor& found_inf);

  Options asked_;
  Options options_;  // what a deviation makes of them
  std::vector<Group> groups_;
  std::vector<std::vector<ParameterState>> states_;  // by group and parameter
};

}  // namespace dlcheck::reference
