// Data that stand in for the program's own, where these meet a model: among the arguments of an
// operation that also takes a weight, or what was made of one. So inputs, targets, masks and noise
// of a training step can be replaced in a program of which no forward() can be called.
#pragma once

#include <torch/torch.h>

#include <map>
#include <string>
#include <tuple>

#include "checks/observe/preload/experiments/data_flow.h"
#include "checks/observe/preload/experiments/dispatch_tap.h"
#include "checks/observe/preload/experiments/reference_optimizer.h"

namespace dlcheck {

// One argument of one operation in a step: operation, number of the argument, number in its list,
// and how often this came before in the step.
using DataPlace = std::tuple<std::string, size_t, size_t, int>;

enum class DataUse {
  kInput,   // of an operation that takes a weight
  kTarget,  // of a loss function
  kSource,  // where a batch is put together
  kOther    // with what was made of a model's tensors
};

class StandIns : public ReferenceSteps, public Tap {
 public:
  StandIns(ProbeRecorder& recorder, double rate);

  void Before(const c10::FunctionSchema& schema, bool has_gradients,
              OperationValues& arguments) override;
  void After(const c10::FunctionSchema& schema, const OperationValues& arguments,
             OperationValues& results) override;
  void StepEnds() override;
  [[noreturn]] void Failed(const std::string& cause) override { Refuse(cause); }

 protected:
  // What is to stand in for the data at this place of a training pass; the tensor itself to leave
  // it.
  virtual at::Tensor StandIn(const DataPlace& place, const at::Tensor& data, DataUse use) = 0;
  // Before what was counted in the step is forgotten.
  virtual void TrainingStepEnds() = 0;

  bool MetInput() const { return inputs_ > 0; }
  // Whether a weight ever met what other weights made without gradients, as features are.
  bool MetFrozenPart() const { return met_frozen_part_; }
  bool IsData(const at::Tensor& tensor) const { return flow_.IsData(tensor); }
  // The next place in this step where an operation makes, or takes, data.
  DataPlace NextPlace(const c10::FunctionSchema& schema, size_t argument, size_t number);

 private:
  DataUse UseOf(const c10::FunctionSchema& schema, size_t argument,
                const OperationValues& arguments) const;
  bool MeetsModel(const OperationValues& arguments) const;
  c10::IValue StandInFor(const c10::FunctionSchema& schema, size_t argument,
                         const OperationValues& arguments);

  DataFlow flow_;
  std::map<std::tuple<std::string, size_t, size_t>, int> counts_;  // of this step
  int inputs_ = 0;                                                 // met in this step
  bool met_frozen_part_ = false;
};

}  // namespace dlcheck
