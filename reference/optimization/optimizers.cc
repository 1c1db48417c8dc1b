#include "reference/optimization/optimizers.h"

#include <map>
#include <utility>

#include "reference/optimization/deviating_rules.h"
#include "reference/optimization/update_rules.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

bool IsLowPrecision(at::ScalarType type) { return type == at::kBFloat16 || type == at::kHalf; }

}  // namespace

Optimizer::Optimizer(const Options& options, std::vector<Group> groups)
    : asked_(options), options_(DeviatingOptions(options)), groups_(std::move(groups)) {
  if (options.nesterov && options.momentum <= 0) {
    throw UsageError("Nesterov momentum needs a momentum above 0");
  }
  for (const Group& group : groups_) {
    std::vector<ParameterState>& states = states_.emplace_back();
    for (const Parameter& parameter : group.parameters) {
      states.push_back(StartOf(group, parameter));
    }
  }
}

Optimizer::Rule Optimizer::RuleOf(const Group& group) const {
  return group.rule.value_or(options_.rule);
}

ParameterState Optimizer::StartOf(const Group& group, const Parameter& parameter) const {
  const torch::Tensor weight = parameter.tensor.detach();
  const Rule rule = RuleOf(group);
  if (rule == Rule::kMuon && weight.dim() != 2) {
    throw UsageError("optimizer muon is for matrices, and " + parameter.name + " is none");
  }
  if (!options_.master_weights || !IsLowPrecision(weight.scalar_type())) {
    return InitialState(options_, rule, weight);
  }
  const torch::Tensor master = weight.to(at::kFloat);
  ParameterState state = InitialState(options_, rule, master);
  state.master = master;
  return state;
}

// The fused kernels of CUDA want tensors of one type.
void Optimizer::Step(const torch::Tensor& grad_scale, const torch::Tensor& found_inf) {
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < groups_.size(); ++i) {
    std::map<at::ScalarType, std::vector<size_t>> by_type;
    for (size_t j = 0; j < groups_[i].parameters.size(); ++j) {
      const torch::Tensor& weight = groups_[i].parameters[j].tensor;
      if (weight.grad().defined()) by_type[weight.scalar_type()].push_back(j);
    }
    for (const auto& [type, chosen] : by_type) {
      StepTogether(groups_[i], states_[i], chosen, grad_scale, found_inf);
    }
  }
}

void Optimizer::StepTogether(const Group& group, std::vector<ParameterState>& states,
                             const std::vector<size_t>& chosen, const torch::Tensor& grad_scale,
                             const torch::Tensor& found_inf) {
  UpdateArguments arguments;
  arguments.lr = group.lr;
  arguments.weight_decay = group.weight_decay;
  arguments.grad_scale = grad_scale;
  arguments.found_inf = found_inf;
  for (const size_t j : chosen) {
    const torch::Tensor& weight = group.parameters[j].tensor;
    const ParameterState& state = states[j];
    const bool has_master = state.master.defined();
    if (has_master && options_.deviation == OptimizerDeviation::kMasterFromWeights) {
      state.master.copy_(weight);
    }
    arguments.weights.push_back(has_master ? state.master : weight);
    arguments.gradients.push_back(has_master ? weight.grad().to(at::kFloat) : weight.grad());
    arguments.states.push_back(state);
  }
  const std::vector<torch::Tensor> steps = arguments.All(&ParameterState::steps);
  if (!steps.empty()) at::_foreach_add_(steps, 1);
  if (HasDeviatingRule(options_.deviation, RuleOf(group))) {
    UpdateDeviating(options_, arguments);
  } else {
    Update(options_, RuleOf(group), arguments);
  }
  if (!steps.empty() && found_inf.defined()) {
    at::_foreach_sub_(steps, std::vector<torch::Tensor>(steps.size(), found_inf));
  }
  for (const size_t j : chosen) {
    if (states[j].master.defined()) group.parameters[j].tensor.copy_(states[j].master);
  }
}

void Optimizer::ZeroGrad() {
  for (Group& group : groups_) {
    for (Parameter& parameter : group.parameters) parameter.tensor.mutable_grad() = torch::Tensor();
  }
}

std::vector<torch::Tensor> Optimizer::Gradients() const {
  std::vector<torch::Tensor> gradients;
  for (const Group& group : groups_) {
    for (const Parameter& parameter : group.parameters) {
      if (parameter.tensor.grad().defined()) gradients.push_back(parameter.tensor.grad());
    }
  }
  return gradients;
}

void Optimizer::VisitState(const VisitTensor& visit) {
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (size_t j = 0; j < states_[i].size(); ++j) {
      for (const auto& [part, member] : kStateParts) {
        torch::Tensor& tensor = states_[i][j].*member;
        if (tensor.defined()) visit(part + ("/" + groups_[i].parameters[j].name), tensor);
      }
    }
  }
}

void Optimizer::ExchangeAverages() {
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (size_t j = 0; j < states_[i].size(); ++j) {
      torch::Tensor& weight = groups_[i].parameters[j].tensor;
      const torch::Tensor kept = weight.detach().clone();
      weight.copy_(states_[i][j].average);
      states_[i][j].average.copy_(kept);
    }
  }
}

}  // namespace dlcheck::reference
