// Gradient penalties that train nothing: gradients that torch::autograd::grad() made without
// create_graph are constants, and so is the term of the loss that is computed from them.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class ConstantTerms {
 public:
  // The program called torch::autograd::grad().
  void GradientsAsked(const std::vector<at::Tensor>& inputs, bool creates_graph,
                      ProbeRecorder& recorder);
  // A backward begins, of a sampled step.
  void Look(const at::Tensor& root, ProbeRecorder& recorder);

 private:
  int64_t asked_ =
      -1;  // the step in which gradients by something other than weights were asked for
  int64_t last_step_ = -1;
  int steps_ = 0;  // in which the loss had a constant term
  Probe::Site site_{"", 0, ""};
};

}  // namespace dlcheck
