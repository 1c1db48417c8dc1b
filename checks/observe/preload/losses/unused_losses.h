// The losses that a line of the program computes for a step, and those among them that a backward
// reaches: a `loss.backward()` outside of the loop trains on the last task or micro-batch alone.
#pragma once

#include <memory>
#include <set>
#include <vector>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class UnusedLosses {
 public:
  void Given(const LossGiven& loss, ProbeRecorder& recorder);
  // Cost: a walk over at most 512 nodes that lead to the losses of the step.
  void BackwardBegins(const at::Tensor& root);
  void StepEnds(int optimizer, ProbeRecorder& recorder);

 private:
  struct Loss {
    std::weak_ptr<torch::autograd::Node> node;
    uint32_t line;  // site
    bool is_reached = false;
  };
  std::vector<Loss> losses_;  // of this step, in their order
  bool is_known_ = true;      // no graph was too large
};

}  // namespace dlcheck
