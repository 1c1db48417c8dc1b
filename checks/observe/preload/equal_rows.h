// Weights whose rows hold the same numbers before training and after some steps, although these
// numbers have changed: units that stay alike.
#pragma once

#include <torch/torch.h>

#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class EqualRows {
 public:
  // Parameters of an optimizer that makes its first step.
  void Meet(const std::vector<at::Tensor>& parameters);
  // A step is about to begin. Waits for the few weights that are suspect, in three steps.
  void BeginStep(ProbeRecorder& recorder);

 private:
  struct Suspect {
    at::Tensor weight, first_row;  // the row as it was
  };
  std::vector<Suspect> suspects_;
  int64_t last_step_ = -1;
};

}  // namespace dlcheck
