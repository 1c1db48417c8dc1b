// An average of the weights that is the weights themselves: `p.data()` is no copy of a parameter.
// An update in two writes, `average.mul_(d).add_(p, 1 - d)`, then makes all weights smaller by one
// factor, d * (2 - d).
#pragma once

#include <ATen/record_function.h>

#include <cstdint>
#include <map>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class AliasedAverages {
 public:
  // After steps 8 and 64 the weights are kept, up to the next pass. Cost: 64 numbers of each.
  void StepEnds(int optimizer, ProbeRecorder& recorder);
  // An operation of the program begins.
  void Saw(const at::RecordFunction& function);
  // A model is given its input in training: what was written to the weights since the step?
  void Enters(ProbeRecorder& recorder);

 private:
  struct Weight {
    at::Tensor parameter, before;
    int writes = 0;  // through another tensor of the same memory
  };
  std::map<const void*, Weight> weights_;  // by their memory; empty: nothing is looked for
};

}  // namespace dlcheck
