// What the tests of the trainer share: a plan over the committed digits, and what a run left
// behind.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "reference/training/run.h"

namespace dlcheck::reference {

inline Plan DigitsPlan() {
  Plan plan;
  plan.recipe.data = DLCHECK_SOURCE_DIR "/fixtures/data/digits.h5";
  return plan;
}

inline std::vector<torch::Tensor> WeightsOf(const Outcome& outcome) {
  return outcome.model.module->parameters();
}

inline bool AllEqual(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!torch::equal(a[i], b[i])) return false;
  }
  return true;
}

// The loss of every step of a run.
inline std::vector<double> LossesOf(const Plan& plan) {
  std::vector<double> losses;
  Observer observer;
  observer.loss = [&](const torch::Tensor& loss, const torch::Tensor&, const torch::Tensor&) {
    losses.push_back(loss.item<double>());
  };
  RunPlan(plan, observer);
  return losses;
}

}  // namespace dlcheck::reference
