// Activations of what the same function gave.
#pragma once

#include <ATen/record_function.h>

#include <set>
#include <string>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class RepeatedActivations {
 public:
  // An activation returned, with gradients. Told once a line.
  void Returned(const at::RecordFunction& function, ProbeRecorder& recorder);

 private:
  std::set<std::string> told_;  // lines
};

}  // namespace dlcheck
