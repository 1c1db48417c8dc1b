#include "reference/optimization/optimizers.h"

#include <map>
#include <utility>

#include "reference/optimization/deviating_rules.h"
#include "reference/optimization/update_rules.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

bool IsLowPrecision(at::ScalarType type) { return type == at::kBFloat16 || type == at::kHalf; }

// An entry of a list of states that the rule may have no use for.
void Append(std::vector<torch::Tensor>& list, const torch::Tensor& tensor) {
  if (tensor.defined()) list.push_back(tensor);
}

}  // namespace

Optimizer::Optimizer(const Options& options, std::vector<Group> groups)
    : asked_(options), options_(DeviatingOptions(options)), groups_(std::move(groups)) {
  if (options.nesterov && options.momentum <= 0) {
    throw UsageError("Nesterov momentum needs a momentum above 0");
  }
  for (const Group& group : groups_) {
    std::vector<State>& states = states_.emplace_back();
    for (const Parameter& parameter : group.parameters) {
      states.push_back(InitialState(parameter.tensor.detach()));
    }
  }
}

// In Python, SGD's first momentum is the gradient itself; it is here too, for a momentum that
// starts at -0, the only number that no sum notices: +0 would lose the sign of a gradient of -0.
Optimizer::State Optimizer::InitialState(const torch::Tensor& weight) const {
  State state;
  torch::Tensor updated = weight;
  if (options_.master_weights && IsLowPrecision(weight.scalar_type())) {
    state.master = weight.to(at::kFloat);
    updated = state.master;
  }
  if (options_.rule == Rule::kSgd) {
    if (options_.momentum > 0) state.momentum = torch::full_like(updated, -0.0);
    return state;
  }
  state.first = torch::zeros_like(updated);
  state.second = torch::zeros_like(updated);
  if (options_.amsgrad) state.largest = torch::zeros_like(updated);
  state.steps = torch::zeros({}, weight.options().dtype(at::kFloat));
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

void Optimizer::StepTogether(const Group& group, std::vector<State>& states,
                             const std::vector<size_t>& chosen, const torch::Tensor& grad_scale,
                             const torch::Tensor& found_inf) {
  UpdateArguments arguments;
  arguments.lr = group.lr;
  arguments.weight_decay = group.weight_decay;
  arguments.grad_scale = grad_scale;
  arguments.found_inf = found_inf;
  for (const size_t j : chosen) {
    const torch::Tensor& weight = group.parameters[j].tensor;
    const State& state = states[j];
    const bool has_master = state.master.defined();
    if (has_master && options_.deviation == OptimizerDeviation::kMasterFromWeights) {
      state.master.copy_(weight);
    }
    arguments.weights.push_back(has_master ? state.master : weight);
    arguments.gradients.push_back(has_master ? weight.grad().to(at::kFloat) : weight.grad());
    Append(arguments.momentum, state.momentum);
    Append(arguments.first, state.first);
    Append(arguments.second, state.second);
    Append(arguments.largest, state.largest);
    Append(arguments.steps, state.steps);
  }
  const bool is_counted = !arguments.steps.empty();
  if (is_counted) at::_foreach_add_(arguments.steps, 1);
  if (HasDeviatingRule(options_.deviation)) {
    UpdateDeviating(options_, arguments);
  } else {
    Update(options_, arguments);
  }
  if (is_counted && found_inf.defined()) {
    at::_foreach_sub_(arguments.steps,
                      std::vector<torch::Tensor>(arguments.steps.size(), found_inf));
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
    for (const Parameter& parameter : group.parameters) Append(gradients, parameter.tensor.grad());
  }
  return gradients;
}

void Optimizer::VisitState(const VisitTensor& visit) {
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (size_t j = 0; j < states_[i].size(); ++j) {
      State& state = states_[i][j];
      const std::pair<const char*, torch::Tensor*> named[] = {
          {"momentum/", &state.momentum}, {"first/", &state.first}, {"second/", &state.second},
          {"largest/", &state.largest},   {"steps/", &state.steps}, {"master/", &state.master}};
      for (const auto& [prefix, tensor] : named) {
        if (tensor->defined()) visit(prefix + groups_[i].parameters[j].name, *tensor);
      }
    }
  }
}

}  // namespace dlcheck::reference
