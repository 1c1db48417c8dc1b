// Gradients that are multiplied by a number above 1 between a backward and the step that uses them,
// or to which the weights were added: the first gradient of each optimizer as the backward left it,
// and as it is clipped or used.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <map>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class GradientFactor {
 public:
  // The last backward so far has ended. Cost: a copy of up to 1,024 numbers an optimizer.
  void BackwardEnds(ProbeRecorder& recorder);
  // An operation is about to run: the norm of gradients that are clipped, or a product of one.
  // Cost: a look at the addresses of its tensors, between a backward and a step.
  void Saw(const at::RecordFunction& function, ProbeRecorder& recorder);
  // An optimizer is about to use its gradients.
  void Consumed(int optimizer, ProbeRecorder& recorder);

 private:
  struct Kept {
    at::Tensor parameter;  // the first with a gradient that can be read
    at::Tensor before;     // its gradient as the backward left it; undefined until then
    Probe::Site site{"", 0, ""};
    bool is_scaled = false;  // a product was seen, at that line
  };
  void Compare(int optimizer, Kept& kept, ProbeRecorder& recorder);
  static void LookForDecay(int optimizer, const Kept& kept, const at::Tensor& before,
                           ProbeRecorder& recorder);

  std::map<int, Kept> kept_;  // by optimizer
  bool waits_ = false;        // a gradient is kept
};

}  // namespace dlcheck
