// The experiment reference: Adam steps in the place of each of the program's optimizers, which keep
// their groups, their state and their schedulers.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <unordered_map>
#include <vector>

#include "checks/observe/preload/experiments/program_experiment.h"

namespace dlcheck {

class ReferenceOptimizers {
 public:
  explicit ReferenceOptimizers(double rate) : rate_(rate) {}
  // Throws what Adam throws, as for sparse gradients. Must be called as the probe's own work.
  void Step(const torch::optim::Optimizer& optimizer);

 private:
  struct Reference {
    std::vector<at::Tensor> parameters;  // of the optimizer, when this was made
    std::unique_ptr<torch::optim::Adam> adam;
  };

  double rate_;
  std::unordered_map<const torch::optim::Optimizer*, Reference> references_;
};

class ReferenceSteps : public ProgramExperiment {
 public:
  ReferenceSteps(ProbeRecorder& recorder, double rate)
      : ProgramExperiment(recorder), optimizers_(rate) {}
  at::Tensor Step(torch::optim::Optimizer& optimizer, int number, Closure closure,
                  const OwnStep& own) override;

 private:
  ReferenceOptimizers optimizers_;
};

}  // namespace dlcheck
