// Averaged weights for the C++ programs of this folder.
#pragma once

#include <torch/torch.h>

#include <cmath>
#include <vector>

#include "dlcheck/probe.h"

inline double Norm(const std::vector<torch::Tensor>& tensors) {
  double sum = 0;
  for (const torch::Tensor& tensor : tensors) sum += tensor.square().sum().item<double>();
  return std::sqrt(sum);
}

// Averaged weights beside the live ones; a copy of the holder would be the live ones themselves.
class Averaged {
 public:
  Averaged(const torch::nn::Module& live, bool is_the_live_one) : live_(live.parameters()) {
    for (const torch::Tensor& tensor : live_) {
      mean_.push_back(is_the_live_one ? tensor.detach() : tensor.detach().clone());
    }
  }
  void Update(dlcheck::Probe& probe) {
    std::vector<torch::Tensor> moved, apart;
    for (size_t i = 0; i < mean_.size(); ++i) {
      const torch::Tensor before = mean_[i].clone();
      mean_[i].lerp_(live_[i].detach(), 0.05);
      moved.push_back(mean_[i] - before);
      apart.push_back(mean_[i] - live_[i].detach());
    }
    probe.EmaUpdated(Norm(apart), Norm(moved));
  }

 private:
  std::vector<torch::Tensor> live_, mean_;
};
