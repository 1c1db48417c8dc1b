// Which tensors of a program are its data: what no weight and no output of a model had a part in.
// Batches, targets, masks and noise are data; a detached output is none.
#pragma once

#include <torch/torch.h>

#include <functional>
#include <unordered_map>
#include <unordered_set>

#include "checks/observe/preload/experiments/dispatch_tap.h"
#include "checks/observe/probe/probe_models.h"

namespace dlcheck {

// Calls `see` with each tensor of a value, or of the list that it is, and its number in the list.
void EachTensor(const c10::IValue& value,
                const std::function<void(const at::Tensor& tensor, size_t number)>& see);

class DataFlow {
 public:
  explicit DataFlow(const ProbeModels& models) : models_(&models) {}

  bool IsData(const at::Tensor& tensor) const;
  // A weight, as it is or transposed, or a buffer.
  bool IsOfModel(const at::Tensor& tensor) const;
  // An operation was carried out: what it made of a model's tensors is no data. What it worked out
  // in place of one of its arguments is not, either.
  void Called(const c10::FunctionSchema& schema, const OperationValues& arguments,
              const OperationValues& results);
  // Looks at the models that were met since the last call, and at all of them once a step.
  void MeetModels();
  void StepEnds();

 private:
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl>;

  const ProbeModels* models_;
  int met_ = 0;  // models
  std::unordered_map<const at::TensorImpl*, Weak> derived_;
  std::unordered_set<const c10::StorageImpl*> storages_;  // of weights and buffers
};

}  // namespace dlcheck
