#include "reference/optimization/optimizers.h"

#include <utility>

namespace dlcheck::reference {
namespace {

using Tensors = std::vector<torch::Tensor>;

}  // namespace

// SGD's first buffer is the first gradient itself; zeros times momentum plus that gradient is the
// same.
Optimizer::Optimizer(const Options& options, std::vector<Group> groups)
    : options_(options), groups_(std::move(groups)) {
  for (const Group& group : groups_) {
    std::vector<Moments>& moments = moments_.emplace_back();
    for (const Parameter& parameter : group.parameters) {
      const torch::Tensor zeros = torch::zeros_like(parameter.tensor.detach());
      moments.push_back({zeros, zeros.clone(), torch::zeros({})});
    }
  }
}

void Optimizer::Step() {
  const torch::NoGradGuard no_grad;
  for (size_t i = 0; i < groups_.size(); ++i) {
    std::vector<size_t> chosen;
    for (size_t j = 0; j < groups_[i].parameters.size(); ++j) {
      if (groups_[i].parameters[j].tensor.grad().defined()) chosen.push_back(j);
    }
    if (chosen.empty()) continue;
    if (options_.rule == Rule::kSgd) {
      StepSgd(groups_[i], chosen, moments_[i]);
    } else {
      StepAdam(groups_[i], chosen, moments_[i]);
    }
  }
}

void Optimizer::StepSgd(const Group& group, const std::vector<size_t>& chosen,
                        std::vector<Moments>& moments) {
  Tensors weights, gradients, buffers;
  for (const size_t j : chosen) {
    weights.push_back(group.parameters[j].tensor);
    gradients.push_back(group.parameters[j].tensor.grad());
    if (options_.momentum > 0) buffers.push_back(moments[j].first);
  }
  at::_fused_sgd_(weights, gradients, buffers, group.weight_decay, options_.momentum, group.lr,
                  /*dampening=*/0, /*nesterov=*/false, /*maximize=*/false, /*is_first_step=*/false);
}

void Optimizer::StepAdam(const Group& group, const std::vector<size_t>& chosen,
                         std::vector<Moments>& moments) {
  Tensors weights, gradients, firsts, seconds, steps;
  for (const size_t j : chosen) {
    weights.push_back(group.parameters[j].tensor);
    gradients.push_back(group.parameters[j].tensor.grad());
    firsts.push_back(moments[j].first);
    seconds.push_back(moments[j].second);
    steps.push_back(moments[j].steps);
  }
  at::_foreach_add_(steps, 1);
  const auto update = [&](const auto& fused) {
    fused(weights, gradients, firsts, seconds, Tensors{}, steps, group.lr, options_.beta1,
          options_.beta2, group.weight_decay, options_.epsilon, /*amsgrad=*/false,
          /*maximize=*/false);
  };
  if (options_.rule == Rule::kAdam) {
    update([](auto&&... all) { at::_fused_adam_(all...); });
  } else {
    update([](auto&&... all) { at::_fused_adamw_(all...); });
  }
}

void Optimizer::ZeroGrad() {
  for (Group& group : groups_) {
    for (Parameter& parameter : group.parameters) parameter.tensor.mutable_grad() = torch::Tensor();
  }
}

void Optimizer::Save(torch::serialize::OutputArchive& archive) const {
  for (size_t i = 0; i < groups_.size(); ++i) {
    for (size_t j = 0; j < moments_[i].size(); ++j) {
      const std::string& name = groups_[i].parameters[j].name;
      archive.write(name + "/first", moments_[i][j].first, /*is_buffer=*/true);
      archive.write(name + "/second", moments_[i][j].second, /*is_buffer=*/true);
      archive.write(name + "/steps", moments_[i][j].steps, /*is_buffer=*/true);
    }
  }
}

}  // namespace dlcheck::reference
