// The experiment zero_lr: every rate that an optimizer finds in its groups is 0, without dropout.
// What the program scales by no rate still changes weights.
#pragma once

#include <torch/torch.h>

#include <map>
#include <unordered_set>
#include <vector>

#include "checks/observe/preload/experiments/dispatch_tap.h"
#include "checks/observe/preload/experiments/program_experiment.h"

namespace dlcheck {

class ZeroRate : public ProgramExperiment, public Tap {
 public:
  explicit ZeroRate(ProbeRecorder& recorder);

  at::Tensor Step(torch::optim::Optimizer& optimizer, int number, Closure closure,
                  const OwnStep& own) override;
  void Scheduled(torch::optim::Optimizer& optimizer) override;
  void MeetsOwnOptimizer() override {}  // its rate is set to 0 as any other's

  void Before(const c10::FunctionSchema& schema, bool has_gradients,
              OperationValues& arguments) override;
  void After(const c10::FunctionSchema&, const OperationValues&, OperationValues&) override {}
  [[noreturn]] void Failed(const std::string& cause) override { Refuse(cause); }

 private:
  // The parameters of one optimizer, and what they were as its last step ended.
  struct Resting {
    int steps = 0;
    std::vector<std::pair<at::Tensor, at::Tensor>> kept;  // parameter, its numbers then
    std::unordered_set<const at::TensorImpl*> between;    // that changed before this step began
  };
  void LookBefore(Resting& resting);
  void LookAfter(const torch::optim::Optimizer& optimizer, int number, Resting& resting);
  void Compare(int number, const Resting& resting);

  std::map<int, Resting> resting_;  // by the number of the optimizer
};

}  // namespace dlcheck
