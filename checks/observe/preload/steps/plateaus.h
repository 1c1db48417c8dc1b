// The metrics that ReduceLROnPlateauScheduler is given: whether they move in the direction that its
// mode takes for worse, from the start of a run to its end.
#pragma once

#include <map>
#include <vector>

#include "checks/observe/probe/probe_recorder.h"

namespace dlcheck {

class Plateaus {
 public:
  // Before step(metric) of a scheduler.
  void Given(bool is_max, double metric);
  void RunEnds(ProbeRecorder& recorder);

 private:
  struct Metrics {
    std::vector<double> values;
    Probe::Site site{"", 0, ""};  // of the last call
  };
  std::map<bool, Metrics> given_;  // by mode: true is max
};

}  // namespace dlcheck
