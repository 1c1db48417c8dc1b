// Where a run stands: everything of its state that is no tensor of a mechanism.
#pragma once

#include <cstdint>

#include "reference/checkpoint/state.h"
#include "reference/training/metrics.h"

namespace dlcheck::reference {

struct Counters {
  int64_t step = 0;        // steps that are done, left-out ones included
  int64_t micro = 0;       // micro-batches that are done of the next step
  int64_t updates = 0;     // steps that changed weights: what schedules count
  int64_t skipped = 0;     // steps that were left out because a gradient was not finite
  double window_loss = 0;  // of the micro-batches that are done of the next step
  MetricTable metrics;

  // True if the evaluation due at this step is done.
  bool evaluated() const { return !metrics.empty() && metrics.back().step == step; }

  void VisitState(const VisitTensor& visit);
  void VisitMetrics(const VisitTensor& visit);
};

}  // namespace dlcheck::reference
