#include "reference/probe_observer.h"

#include <map>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "reference/checkpoint/checkpoint_folder.h"
#include "reference/checkpoint/durable_file.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

// The lines of the trainer are not where a user would look.
constexpr Probe::Site kNowhere{"", 0, ""};

// The parameters of an optimizer as the probe wants them; rates are asked for at each step.
std::vector<Probe::Group> GroupsOf(Optimizer& optimizer) {
  std::vector<Probe::Group> groups;
  for (size_t i = 0; i < optimizer.groups().size(); ++i) {
    Probe::Group group;
    for (const Optimizer::Parameter& parameter : optimizer.groups()[i].parameters) {
      group.parameters.emplace_back(parameter.name, parameter.tensor);
    }
    group.rate = [&optimizer, i] { return optimizer.groups()[i].lr; };
    group.weight_decay = [&optimizer, i] { return optimizer.groups()[i].weight_decay; };
    groups.push_back(std::move(group));
  }
  return groups;
}

// What the optimizer was asked to be, whatever it does.
Probe::Rule RuleOf(Optimizer& optimizer) {
  const Optimizer::Options& options = optimizer.options();
  Probe::Rule rule;
  // The probe works these out again itself.
  const bool is_known = options.rule <= Optimizer::Rule::kNadam;
  if (is_known && !options.amsgrad && !options.maximize) rule.name = NameOf(options.rule);
  rule.momentum = options.momentum;
  rule.nesterov = options.nesterov;
  rule.beta1 = options.beta1;
  rule.beta2 = options.beta2;
  rule.epsilon = options.epsilon;
  rule.alpha = options.alpha;
  rule.centered = options.centered;
  rule.lr_decay = options.lr_decay;
  rule.momentum_decay = options.momentum_decay;
  std::map<const at::TensorImpl*, std::string> names;
  for (const Optimizer::Group& group : optimizer.groups()) {
    for (const Optimizer::Parameter& parameter : group.parameters) {
      names[parameter.tensor.unsafeGetTensorImpl()] = parameter.name;
    }
  }
  // Steps change the state in place, so that these stay what it is.
  std::map<std::string, Tensor> state;
  optimizer.VisitState([&](const std::string& name, Tensor& tensor) { state[name] = tensor; });
  rule.state = [names, state](const std::string& field, const Tensor& parameter) {
    const auto found = state.find(field + "/" + names.at(parameter.unsafeGetTensorImpl()));
    return found == state.end() ? Tensor() : found->second;
  };
  return rule;
}

NamedTensors ReadBack(const std::string& path) {
  NamedTensors stored;
  for (auto& [name, tensor] : TensorsOf(path, ReadWhole(path))) stored.emplace_back(name, tensor);
  return stored;
}

// (B, T, C) with (B, T) as (B T, C) with (B T): each token is a target of its own.
std::pair<Tensor, Tensor> Flat(const Tensor& outputs, const Tensor& targets) {
  if (outputs.dim() != 3 || targets.dim() != 2) return {outputs, targets};
  return {outputs.flatten(0, 1), targets.flatten()};
}

void ObserveBeginning(Probe& probe, Observer& observer) {
  observer.declared = [&](const std::string& key, const std::string& value) {
    probe.Declare(key, value);
  };
  observer.ranks = [&](int64_t rank, int64_t world, bool replicated) {
    probe.Rank(static_cast<int>(rank), static_cast<int>(world));
    std::vector<int> all(static_cast<size_t>(world));
    std::iota(all.begin(), all.end(), 0);
    if (replicated) probe.ReplicaGroup(all);
  };
  observer.seeded = [&](int64_t seed) { probe.Seeded(seed, kNowhere); };
  observer.model = [&](torch::nn::Module& model) { probe.Watch(model); };
  observer.tied = [&](const std::string& one, const std::string& other) {
    probe.DeclareTied(one, other);
  };
  observer.optimizer = [&](Optimizer& optimizer) {
    probe.RegisterOptimizer("reference optimizer", GroupsOf(optimizer), RuleOf(optimizer));
  };
  observer.loaded = [&](const std::string& file, const NamedTensors&) { probe.Loaded(file); };
  observer.rejected = [&](const std::string& file, const std::string& cause) {
    probe.Rejected(file, cause);
  };
}

void ObserveSteps(Probe& probe, Observer& observer) {
  observer.wants_state = [&] { return probe.WantsState(); };
  observer.state = [&](const NamedTensors& state) { probe.State(state); };
  observer.epoch = [&](int64_t epoch) { probe.Epoch(epoch); };
  observer.batch = [&](const Tensor& x, const Tensor&) { probe.Batch(x, kNowhere); };
  observer.mode = [&](bool training) { probe.SetTraining(training, kNowhere); };
  observer.cleared = [&] { probe.ZeroGrad(0, kNowhere); };
  observer.loss = [&](const Tensor& loss, const Tensor& outputs, const Tensor& targets) {
    const auto [flat, flat_targets] = Flat(outputs, targets);
    probe.Loss(loss, flat, flat_targets, kNowhere);
  };
  observer.scaled = [&](double scale) { probe.LossScale(scale); };
  observer.unscaled = [&](double scale) { probe.Unscaled(scale, kNowhere); };
  observer.clipped = [&](const std::string& kind, double bound, double p) {
    probe.Clip(kind, bound, p, kNowhere);
  };
  observer.scheduled = [&](const std::vector<double>& rates) { probe.ExpectLearningRates(rates); };
  observer.before_step = [&] { probe.BeforeStep(); };
  observer.after_step = [&](bool taken) { probe.AfterStep(0, kNowhere, taken); };
  observer.wants_averaged = [&] { return probe.Sampled(); };
  observer.averaged = [&](double distance, double moved) { probe.EmaUpdated(distance, moved); };
}

void ObserveEvaluations(Probe& probe, Observer& observer) {
  observer.evaluation_begins = [&] { probe.BeginEvaluation(); };
  observer.evaluation_outputs = [&](const Tensor& outputs, const Tensor& targets) {
    const auto [flat, flat_targets] = Flat(outputs, targets);
    probe.EvaluationOutputs(flat, flat_targets);
  };
  observer.evaluated = [&](double loss, int64_t samples) { probe.EndEvaluation(loss, samples); };
  // Reading back takes as long as writing did, so it is not done for every checkpoint of a long
  // run.
  constexpr int kFirstSaves = 8;
  observer.saved = [&, saves = 0](const std::string& file, const NamedTensors& state) mutable {
    if (++saves > kFirstSaves && !probe.Sampled()) return probe.Saved(file);
    probe.Saved(file, state, ReadBack(file));
  };
  observer.future_sensitivity = [&](double share, double rounding) {
    probe.FutureSensitivity(share, rounding);
  };
}

}  // namespace

Observer ObserverFor(Probe& probe) {
  Observer observer;
  if (!probe.active()) return observer;
  ObserveBeginning(probe, observer);
  ObserveSteps(probe, observer);
  ObserveEvaluations(probe, observer);
  return observer;
}

}  // namespace dlcheck::reference
