// Mean and spread of the targets of a loss in training and in evaluations: targets that were
// normalized for training alone are others there.
#pragma once

#include <cstdint>
#include <map>

#include "checks/observe/preload/losses/loss_given.h"
#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class TargetScales {
 public:
  // Cost of both: a pass over at most 65,536 targets.
  void Trained(const LossGiven& loss);
  void Evaluated(const LossGiven& loss, ProbeRecorder& recorder);

 private:
  struct Sums {
    double count = 0, sum = 0, squares = 0;
  };
  static Sums SumsOf(const LossGiven& loss);

  std::map<uint32_t, Sums> trained_;  // by loss
  int told_ = 0;
};

}  // namespace dlcheck
