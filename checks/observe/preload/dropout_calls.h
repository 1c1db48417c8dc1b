// Dropout functions that a program calls, as torch::dropout(x, 0.1, is_training()): they make a
// model depend on its mode without a module, and drop values in evaluation mode if they are told
// to.
#pragma once

#include <ATen/record_function.h>

#include <map>
#include <set>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class DropoutCalls {
 public:
  static bool Is(const at::RecordFunction& function);
  // With which such a call drops; 0 where it does not.
  static double ProbabilityOf(const at::RecordFunction& function);
  // Such a function begins, within a forward pass of the model that runs.
  void Saw(const at::RecordFunction& function, ProbeRecorder& recorder);

 private:
  std::map<int, int64_t> active_;  // calls that dropped values in evaluation mode, by model
  std::set<int> dependent_;        // models that were said to depend on their mode
};

}  // namespace dlcheck
