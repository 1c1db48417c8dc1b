// Parameters: those of Optimizer::Options, `decay`. Inputs: `weight/NAME`, `gradients/NAME`
// (steps, ...), `rates` (steps), `has_gradient` (steps, parameters in the order of their names).
// The last parameter is a group of its own, without decay. Puts out the weights and the state.
#include "tests/pytorch_parity/subject/optimizers.h"

namespace dlcheck::reference {

Optimizer::Options OptimizerOptions(const Case& run, const std::string& deviation) {
  Optimizer::Options options;
  options.rule = RuleFromName(run.Text("rule", "")).value();
  options.momentum = run.Number("momentum", 0);
  options.nesterov = run.Flag("nesterov");
  options.beta1 = run.Number("beta1", options.beta1);
  options.beta2 = run.Number("beta2", options.beta2);
  options.epsilon = run.Number("epsilon", options.epsilon);
  options.alpha = run.Number("alpha", options.alpha);
  options.centered = run.Flag("centered");
  options.lr_decay = run.Number("lr_decay", options.lr_decay);
  options.momentum_decay = run.Number("momentum_decay", options.momentum_decay);
  options.matches_adamw = run.Flag("matches_adamw");
  options.amsgrad = run.Flag("amsgrad");
  options.maximize = run.Flag("maximize");
  options.master_weights = run.Flag("master_weights");
  options.deviation = run.Named<OptimizerDeviation>(
      deviation, {{"none", OptimizerDeviation::kNone},
                  {"epsilon_inside_root", OptimizerDeviation::kEpsilonInsideRoot},
                  {"no_bias_correction", OptimizerDeviation::kNoBiasCorrection},
                  {"steps_ahead", OptimizerDeviation::kStepsAhead},
                  {"swapped_betas", OptimizerDeviation::kSwappedBetas},
                  {"coupled_decay", OptimizerDeviation::kCoupledDecay},
                  {"nesterov_ignored", OptimizerDeviation::kNesterovIgnored},
                  {"rate_in_momentum", OptimizerDeviation::kRateInMomentum},
                  {"master_from_weights", OptimizerDeviation::kMasterFromWeights},
                  {"core_left_out", OptimizerDeviation::kCoreLeftOut}});
  return options;
}

std::vector<Optimizer::Group> TwoGroups(const Case& run) {
  std::vector<Optimizer::Parameter> parameters;
  for (const auto& [name, weight] : run.Inputs("weight/")) {
    parameters.push_back({name, torch::Tensor(weight).requires_grad_()});
  }
  const Optimizer::Parameter last = parameters.back();
  parameters.pop_back();
  return {{"decaying", 0, run.Number("decay", 0), parameters}, {"last", 0, 0, {last}}};
}

void SetGradients(Optimizer& optimizer, const Case::Tensors& gradients, int64_t step,
                  double scale) {
  for (Optimizer::Group& group : optimizer.groups()) {
    for (Optimizer::Parameter& parameter : group.parameters) {
      parameter.tensor.mutable_grad() = gradients.at(parameter.name)[step].clone() * scale;
    }
  }
}

void PutWeightsAndState(Optimizer& optimizer, Case& run) {
  for (const Optimizer::Group& group : optimizer.groups()) {
    for (const Optimizer::Parameter& parameter : group.parameters) {
      run.Put("weight/" + parameter.name, parameter.tensor);
    }
  }
  optimizer.VisitState(
      [&](const std::string& name, torch::Tensor& state) { run.Put(name, state); });
}

void Optimizers(Case& run) {
  Optimizer optimizer(OptimizerOptions(run, "deviation"), TwoGroups(run));
  const Case::Tensors gradients = run.Inputs("gradients/");
  const torch::Tensor rates = run.Input("rates"), has_gradient = run.Input("has_gradient");
  for (int64_t step = 0; step < rates.size(0); ++step) {
    SetGradients(optimizer, gradients, step, 1);
    int64_t index = 0;
    for (Optimizer::Group& group : optimizer.groups()) {
      group.lr = rates[step].item<double>();
      for (Optimizer::Parameter& parameter : group.parameters) {
        if (has_gradient[step][index++].item<bool>()) continue;
        parameter.tensor.mutable_grad() = torch::Tensor();
      }
    }
    optimizer.Step();
  }
  PutWeightsAndState(optimizer, run);
}

}  // namespace dlcheck::reference
