// Steps that all draw the same rows of a larger tensor, without a loader.
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <set>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class SameRows {
 public:
  // Whether an operation draws rows by their numbers, as long as that is of interest.
  bool Is(const at::RecordFunction& function) const;
  void Begins(const at::RecordFunction& function);
  void Returned(const at::RecordFunction& function);
  // A model is given its input in training.
  void Enters(const at::Tensor& input, ProbeRecorder& recorder);

 private:
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  int64_t source_rows_ = 0;  // of what the operation under way draws from
  Weak drawn_{c10::intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>()};
  int64_t drawn_from_ = 0;      // rows
  std::vector<uint64_t> rows_;  // that all steps so far trained on
  std::set<int64_t> steps_;
  bool is_done_ = false;
};

}  // namespace dlcheck
