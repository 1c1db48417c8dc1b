// Layers that a forward pass makes anew, with weights drawn at random, each for one call.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class BuiltLayers {
 public:
  // An operation that lies in no other begins. Cost: a look at its name.
  void Saw(const at::RecordFunction& function, const ProbeClock& clock);
  // A loss depends on a weight that no model or optimizer is known to have.
  void Depends(const at::Tensor& weight, ProbeRecorder& recorder);

 private:
  struct Drawn {
    const at::TensorImpl* tensor;  // of the step under way, and perhaps gone
    Probe::Site site;
  };
  std::vector<Drawn> drawn_;
  int64_t step_ = -1, last_step_ = -1;
  int steps_ = 0;   // in which a loss depended on a layer of the same step
  int layers_ = 0;  // of them
};

}  // namespace dlcheck
