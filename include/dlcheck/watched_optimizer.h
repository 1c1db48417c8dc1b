// An optimizer of torch::optim under the eyes of a Probe, which must outlive it. Made by
// Probe::Wrap and included by dlcheck/probe.h alone; forwards what it does not watch.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <typeinfo>
#include <utility>
#include <vector>

#include "dlcheck/probe.h"

namespace dlcheck {

template <typename TorchOptimizer>
class Watched {
 public:
  Watched(Probe& probe, TorchOptimizer optimizer)
      : probe_(&probe), optimizer_(std::make_unique<TorchOptimizer>(std::move(optimizer))) {
    if (probe.active()) {
      Probe::Rule rule;
      rule.keeps_state = [inner = optimizer_.get()] { return !inner->state().empty(); };
      number_ = probe.RegisterOptimizer(c10::demangle(typeid(TorchOptimizer).name()).c_str(),
                                        Groups(), rule);
    }
  }

  torch::Tensor step(torch::optim::Optimizer::LossClosure closure = nullptr,
                     Probe::Site site = Probe::Site::Here()) {
    if (!probe_->active()) return optimizer_->step(std::move(closure));
    probe_->BeginStep(number_);
    if (!closure) {
      probe_->Consume(number_);
    } else {
      // The gradients that count are there only after the closure ran.
      closure = [this, inner = std::move(closure)] {
        torch::Tensor loss = inner();
        probe_->Consume(number_);
        return loss;
      };
    }
    torch::Tensor loss = optimizer_->step(std::move(closure));
    probe_->AfterStep(number_, site);
    return loss;
  }

  void zero_grad(bool set_to_none = true, Probe::Site site = Probe::Site::Here()) {
    optimizer_->zero_grad(set_to_none);
    probe_->ZeroGrad(number_, site);
  }

  std::vector<torch::optim::OptimizerParamGroup>& param_groups() {
    return optimizer_->param_groups();
  }

  // For Probe::RegisterScheduler and Probe::SchedulerStepped.
  int number() const { return number_; }

  // The optimizer itself, for everything else, such as schedulers and saving.
  TorchOptimizer& inner() { return *optimizer_; }
  TorchOptimizer* operator->() { return optimizer_.get(); }

 private:
  std::vector<Probe::Group> Groups() {
    std::vector<Probe::Group> groups;
    for (size_t i = 0; i < optimizer_->param_groups().size(); ++i) {
      Probe::Group group;
      for (const torch::Tensor& parameter : optimizer_->param_groups()[i].params()) {
        group.parameters.emplace_back("", parameter);
      }
      // Groups may be replaced, so the rate is looked up each time; the optimizer itself stays.
      group.rate = [optimizer = optimizer_.get(), i] {
        return optimizer->param_groups()[i].options().get_lr();
      };
      groups.push_back(std::move(group));
    }
    return groups;
  }

  Probe* probe_;
  std::unique_ptr<TorchOptimizer> optimizer_;
  int number_ = 0;
};

template <typename TorchOptimizer>
Watched<TorchOptimizer> Probe::Wrap(TorchOptimizer optimizer) {
  return Watched<TorchOptimizer>(*this, std::move(optimizer));
}

}  // namespace dlcheck
