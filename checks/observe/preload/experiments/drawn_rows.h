// Which data have one sample in each row: what a data loader of LibTorch put together, what a
// program looked up by the rows of a random order, and parts of these.
#pragma once

#include <torch/torch.h>

#include <unordered_map>

#include "checks/observe/preload/experiments/dispatch_tap.h"

namespace dlcheck {

class DrawnRows {
 public:
  // Whether data have a sample in each row.
  bool HaveSamples(const at::Tensor& data) const;
  // Whether something was made of rows that were drawn, in whatever shape.
  bool IsOfDrawn(const at::Tensor& data) const;
  // An operation was carried out. True if it put a batch together: what it gives has samples.
  bool Called(const c10::FunctionSchema& schema, const OperationValues& arguments,
              const OperationValues& results);

 private:
  using Storage = c10::weak_intrusive_ptr<c10::StorageImpl>;
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl>;
  bool IsOrder(const at::Tensor& tensor) const;
  bool PutsTogether(const c10::FunctionSchema& schema, const OperationValues& arguments,
                    const at::Tensor& made) const;

  // Numbers of rows, drawn at random: by storage, since LibTorch hands on another tensor.
  std::unordered_map<const c10::StorageImpl*, Storage> orders_;
  struct Drawn {
    Weak tensor;
    bool has_samples;  // one in each row
  };
  std::unordered_map<const at::TensorImpl*, Drawn> drawn_;
};

}  // namespace dlcheck
