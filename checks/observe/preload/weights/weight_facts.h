// All parts that look at weights between the steps that change them.
#pragma once

#include <ATen/record_function.h>

#include "checks/observe/preload/weights/aliased_averages.h"
#include "checks/observe/preload/weights/frozen_as_made.h"
#include "checks/observe/preload/weights/frozen_networks.h"
#include "checks/observe/preload/weights/met_weights.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class WeightFacts {
 public:
  // An operation of the program begins; `has_gradients` is the mode of the program.
  void Saw(const at::RecordFunction& function, bool has_gradients, ProbeRecorder& recorder) {
    aliased_.Saw(function);
    if (!has_gradients) networks_.Saw(function, recorder);
  }
  // A model is given its input in training.
  void Enters(ProbeRecorder& recorder) { aliased_.Enters(recorder); }
  // An optimizer is about to step, or has stepped.
  void Consumed(int optimizer, ProbeRecorder& recorder) { met_.Consumed(optimizer, recorder); }
  void StepEnds(int optimizer, ProbeRecorder& recorder) {
    frozen_.StepEnds(recorder);
    aliased_.StepEnds(optimizer, recorder);
  }

 private:
  AliasedAverages aliased_;
  FrozenAsMade frozen_;
  FrozenNetworks networks_;
  MetWeights met_;
};

}  // namespace dlcheck
