// Whether the inputs of an evaluation were normalized by their own mean and spread: only then are
// these 0 and 1 to many digits. Those of training belong there.
#pragma once

#include <cstdint>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class OwnStatistics {
 public:
  // A batch of an evaluation. Cost: two sums over it.
  void Evaluated(const at::Tensor& input);
  // `is_new`: none of its rows was trained on, and some were.
  void EvaluationEnds(uint32_t model, bool is_new, ProbeRecorder& recorder);

 private:
  bool is_whole_ = true;
  int batches_ = 0;
  double samples_ = 0;
  at::Tensor sums_, squares_;  // of each entry
  double row_mean_ = 0;        // the largest of a sample
  Probe::Site site_{"", 0, ""};
};

}  // namespace dlcheck
