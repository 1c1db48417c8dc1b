// The lines that called operations whose nodes a backward is asked about: products and exponentials
// of the first steps.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <unordered_map>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class OperationSites {
 public:
  static constexpr int64_t kSteps = 3;  // in which graphs are looked at

  static bool Is(const at::RecordFunction& function);
  // One of which Is() is true returned in a forward pass. Cost: a walk through the stack, for at
  // most 256 operations a step.
  void Returned(const at::RecordFunction& function);
  // That of the call which made the node; else that of the call under way.
  Probe::Site Of(const torch::autograd::Node& node) const;
  void StepEnds() { sites_.clear(); }

 private:
  // By address: nodes live until the backward, at which they are asked about.
  std::unordered_map<const torch::autograd::Node*, Probe::Site> sites_;
};

}  // namespace dlcheck
