// Counts the classes that the targets of losses have, for the C++ probe: one that never occurs, one
// that nearly all have, and weights of classes that grow with their frequency, or are in another
// order. The same test as the Python probe's.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <utility>

#include "checks/observe/probe/loss_call.h"
#include "checks/observe/probe/probe_clock.h"

namespace dlcheck {

class TargetClasses {
 public:
  // A loss was given outputs (N, C) with class numbers (N), one for each sample of the batch.
  void Add(const LossCall& call, uint32_t loss, ProbeClock& clock);

 private:
  struct Counts {
    at::Tensor of_class;
    int64_t all = 0, next = 0;  // at how many to speak next
  };
  std::map<std::pair<uint32_t, int64_t>, Counts> counts_;  // by loss and number of classes
};

}  // namespace dlcheck
