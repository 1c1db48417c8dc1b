// A class that a loss ignores although it stands within rows, before targets that count: padding
// then has the number of a real token.
#pragma once

#include <cstdint>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class IgnoredWithin {
 public:
  // A loss was given, after tokens (rows, positions) were looked up.
  void Given(const LossGiven& loss, const std::vector<at::Tensor>& words, ProbeRecorder& recorder);

 private:
  int calls_ = 0;
  double within_ = 0, all_ = 0;  // targets
};

}  // namespace dlcheck
