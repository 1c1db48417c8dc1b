// Losses whose target has a gradient of its own, so that a backward changes what makes the target.
#pragma once

#include <cstdint>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class TargetGradients {
 public:
  // Cost: nothing for a target without a graph, else a walk through a part of its graph.
  void Given(const LossGiven& loss, ProbeRecorder& recorder);

 private:
  int calls_ = 0;  // of which the targets were looked at
};

}  // namespace dlcheck
