// The experiment trials for a program of which no forward() can be called: under weights that stay,
// its own steps meet the same data and random numbers again and again, some of them changed.
// Dropout is off, and batch norm uses its running statistics.
#pragma once

#include <torch/torch.h>

#include <memory>
#include <vector>

#include "checks/observe/preload/experiments/drawn_rows.h"
#include "checks/observe/preload/experiments/first_change.h"
#include "checks/observe/preload/experiments/model_trial.h"

namespace dlcheck {

class Trials : public StandIns {
 public:
  explicit Trials(ProbeRecorder& recorder);

  at::Tensor Step(torch::optim::Optimizer& optimizer, int number, Closure closure,
                  const OwnStep& own) override;
  void Before(const c10::FunctionSchema& schema, bool has_gradients,
              OperationValues& arguments) override;
  void After(const c10::FunctionSchema& schema, const OperationValues& arguments,
             OperationValues& results) override;

 private:
  // Of the steps: one that moves weights, one that is kept, and two for each trial, as it was and
  // changed.
  enum class Phase { kMoving, kKeeping, kAgain, kChanged, kOver };

  at::Tensor StandIn(const DataPlace& place, const at::Tensor& data, DataUse use) override;
  at::Tensor Source(const DataPlace& place, const at::Tensor& data);
  at::Tensor Again(const KeptData& kept) const;
  void Look(const c10::FunctionSchema& schema, const OperationValues& arguments,
            const OperationValues& results);
  void TrainingStepEnds() override;
  void BeginTrial();
  void EndTrial();
  void GiveUp(const char* trial, const std::string& reason);

  Phase phase_ = Phase::kMoving;
  const torch::optim::Optimizer* optimizer_ = nullptr;
  at::Tensor randomness_;  // the generator as the kept step began
  KeptStep kept_;
  at::Tensor again_, outputs_;  // of the step before, and of this one
  DrawnRows rows_;
  FirstChange change_;
  std::vector<std::unique_ptr<ModelTrial>> trials_;
  size_t trial_ = 0;  // the one under way
};

}  // namespace dlcheck
