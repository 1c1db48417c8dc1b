// Finds weights of layers that the program did not register: they get gradients at each step, and
// neither a module that it asked for its parameters nor an optimizer has them. A network that only
// measures outputs, which nobody wants to train, is no such layer.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>

#include "checks/observe/preload/built_layers.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class ForgottenWeights {
 public:
  // Before a backward from `root`, in a sampled step. Tells the recorder of weights that are as
  // they were in three steps. Cost: a walk over at most 20,000 nodes, in each of the first steps.
  void Look(const at::Tensor& root, ProbeRecorder& recorder);
  // Another training begins, with other layers.
  void OptimizerBuilt() { steps_ = 0; }

  // An operation that the program calls is about to run; `in_forward`: the model was called since
  // gradients were enabled or disabled.
  bool follows() const { return !seen_.empty(); }
  void SawDrawn(const at::RecordFunction& function, const ProbeClock& clock) {
    built_.Saw(function, clock);
  }
  void SawUse(const at::RecordFunction& function, bool in_forward);

 private:
  // As at::TensorBase holds it, which knows an undefined one by another null.
  using Weak = c10::weak_intrusive_ptr<at::TensorImpl, at::UndefinedTensorImpl>;
  struct Seen {
    Weak tensor;
    double sum = 0;
    int steps = 0;  // in which it was seen
    bool takes_data = false, takes_outputs = false;
    bool measures() const { return takes_data && takes_outputs; }
  };
  void SawWeight(const at::Tensor& weight, bool is_behind_known, ProbeRecorder& recorder);

  int64_t last_step_ = -1;
  int steps_ = 0;          // since the last optimizer was built
  bool measures_ = false;  // a followed weight takes outputs and data alike
  std::unordered_map<const at::TensorImpl*, Seen> seen_;
  std::map<std::string, int> told_;  // by shape
  BuiltLayers built_;
};

}  // namespace dlcheck
