#include "checks/observe/preload/optimizer_rules.h"

#include <string>
#include <tuple>
#include <typeinfo>
#include <utility>

namespace dlcheck {
namespace {

const torch::optim::OptimizerParamState* StateOf(const LivingOptimizer& alive,
                                                 const at::Tensor& parameter) {
  if (*alive == nullptr) return nullptr;
  const auto found = (*alive)->state().find(parameter.unsafeGetTensorImpl());
  return found == (*alive)->state().end() ? nullptr : found->second.get();
}

template <typename State>
at::Tensor AdamField(const State& state, const std::string& field) {
  if (field == "first") return state.exp_avg();
  if (field == "second") return state.exp_avg_sq();
  if (field == "steps") return at::scalar_tensor(state.step(), at::kDouble);
  return {};
}

at::Tensor RmspropField(const torch::optim::RMSpropParamState& state, const std::string& field) {
  if (field == "momentum") return state.momentum_buffer();
  if (field == "first") return state.grad_avg();
  if (field == "second") return state.square_avg();
  return {};
}

at::Tensor AdagradField(const torch::optim::AdagradParamState& state, const std::string& field) {
  if (field == "second") return state.sum();
  if (field == "steps") return at::scalar_tensor(state.step(), at::kDouble);
  return {};
}

at::Tensor FieldOf(const torch::optim::OptimizerParamState* state, const std::string& field) {
  if (const auto* adam = dynamic_cast<const torch::optim::AdamParamState*>(state)) {
    return AdamField(*adam, field);
  }
  if (const auto* adam_w = dynamic_cast<const torch::optim::AdamWParamState*>(state)) {
    return AdamField(*adam_w, field);
  }
  if (const auto* rmsprop = dynamic_cast<const torch::optim::RMSpropParamState*>(state)) {
    return RmspropField(*rmsprop, field);
  }
  if (const auto* adagrad = dynamic_cast<const torch::optim::AdagradParamState*>(state)) {
    return AdagradField(*adagrad, field);
  }
  const auto* sgd = dynamic_cast<const torch::optim::SGDParamState*>(state);
  return sgd != nullptr && field == "momentum" ? sgd->momentum_buffer() : at::Tensor();
}

template <typename Options>
bool SetAdam(const Options& options, const char* name, Probe::Rule& rule) {
  if (options.amsgrad()) return false;
  rule.name = name;
  std::tie(rule.beta1, rule.beta2) = options.betas();
  rule.epsilon = options.eps();
  return true;
}

bool SetRmsprop(const torch::optim::RMSpropOptions& options, Probe::Rule& rule) {
  rule.name = "rmsprop";
  rule.alpha = options.alpha();
  rule.centered = options.centered();
  rule.momentum = options.momentum();
  rule.epsilon = options.eps();
  return true;
}

bool SetAdagrad(const torch::optim::AdagradOptions& options, Probe::Rule& rule) {
  rule.name = "adagrad";
  rule.lr_decay = options.lr_decay();
  rule.epsilon = options.eps();
  return true;
}

// False where the rule is another one.
bool SetRule(const torch::optim::OptimizerOptions& options, Probe::Rule& rule) {
  if (const auto* adam = dynamic_cast<const torch::optim::AdamOptions*>(&options)) {
    return SetAdam(*adam, "adam", rule);
  }
  if (const auto* adam_w = dynamic_cast<const torch::optim::AdamWOptions*>(&options)) {
    return SetAdam(*adam_w, "adamw", rule);
  }
  if (const auto* rmsprop = dynamic_cast<const torch::optim::RMSpropOptions*>(&options)) {
    return SetRmsprop(*rmsprop, rule);
  }
  if (const auto* adagrad = dynamic_cast<const torch::optim::AdagradOptions*>(&options)) {
    return SetAdagrad(*adagrad, rule);
  }
  const auto* sgd = dynamic_cast<const torch::optim::SGDOptions*>(&options);
  if (sgd == nullptr || sgd->dampening() != 0) return false;
  rule.name = "sgd";
  rule.momentum = sgd->momentum();
  rule.nesterov = sgd->nesterov();
  return true;
}

bool AreAlike(const Probe::Rule& one, const Probe::Rule& other) {
  return one.name == other.name && one.momentum == other.momentum &&
         one.nesterov == other.nesterov && one.beta1 == other.beta1 && one.beta2 == other.beta2 &&
         one.epsilon == other.epsilon && one.alpha == other.alpha &&
         one.centered == other.centered && one.lr_decay == other.lr_decay;
}

// 0 where the options have none.
double WeightDecayOf(const torch::optim::OptimizerParamGroup& group) {
  const torch::optim::OptimizerOptions* options = &group.options();
  if (const auto* adam = dynamic_cast<const torch::optim::AdamOptions*>(options)) {
    return adam->weight_decay();
  }
  if (const auto* adam_w = dynamic_cast<const torch::optim::AdamWOptions*>(options)) {
    return adam_w->weight_decay();
  }
  if (const auto* rmsprop = dynamic_cast<const torch::optim::RMSpropOptions*>(options)) {
    return rmsprop->weight_decay();
  }
  if (const auto* adagrad = dynamic_cast<const torch::optim::AdagradOptions*>(options)) {
    return adagrad->weight_decay();
  }
  const auto* sgd = dynamic_cast<const torch::optim::SGDOptions*>(options);
  return sgd == nullptr ? 0 : sgd->weight_decay();
}

}  // namespace

Probe::Rule RuleOf(const torch::optim::Optimizer& optimizer, const LivingOptimizer& alive) {
  Probe::Rule rule, none;
  rule.keeps_state =
      none.keeps_state = [alive] { return *alive != nullptr && !(*alive)->state().empty(); };
  // One of the program's own may derive from LibTorch's and do something else.
  const std::type_info& type = typeid(optimizer);
  if (type != typeid(torch::optim::SGD) && type != typeid(torch::optim::Adam) &&
      type != typeid(torch::optim::AdamW) && type != typeid(torch::optim::RMSprop) &&
      type != typeid(torch::optim::Adagrad)) {
    return none;
  }
  // A device is not made to wait.
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (!parameter.device().is_cpu()) return none;
    }
  }
  rule.state = [alive](const std::string& field, const torch::Tensor& parameter) {
    return FieldOf(StateOf(alive, parameter), field);
  };
  bool is_first = true;
  for (const auto& group : optimizer.param_groups()) {
    Probe::Rule own;
    if (!group.has_options() || !SetRule(group.options(), own)) return none;
    if (is_first) {
      own.keeps_state = rule.keeps_state;
      own.state = rule.state;
      rule = std::move(own);
      is_first = false;
    } else if (!AreAlike(rule, own)) {
      return none;
    }
  }
  return is_first ? none : rule;
}

std::vector<Probe::Group> GroupsOf(const torch::optim::Optimizer& optimizer,
                                   const LivingOptimizer& alive) {
  std::vector<Probe::Group> groups;
  for (size_t i = 0; i < optimizer.param_groups().size(); ++i) {
    Probe::Group group;
    for (const torch::Tensor& parameter : optimizer.param_groups()[i].params()) {
      group.parameters.emplace_back("", parameter);
    }
    const auto now = [alive, i]() -> const torch::optim::OptimizerParamGroup* {
      const bool is_there = *alive != nullptr && i < (*alive)->param_groups().size();
      return is_there ? &(*alive)->param_groups()[i] : nullptr;
    };
    group.rate = [now] { return now() == nullptr ? 0 : now()->options().get_lr(); };
    group.weight_decay = [now] { return now() == nullptr ? 0 : WeightDecayOf(*now()); };
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace dlcheck
