// What is looked at once, before the first step of an optimizer: masks among the parameters that it
// trains, and layers that a container of the models holds several times.
#pragma once

#include <set>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class MetWeights {
 public:
  // An optimizer is about to step.
  void Consumed(int optimizer, ProbeRecorder& recorder);

 private:
  std::set<int> optimizers_;  // that were met
  int models_ = 0;
};

}  // namespace dlcheck
