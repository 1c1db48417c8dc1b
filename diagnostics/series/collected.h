// All samples of a run, before they are thinned out for a report.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/trace.h"
#include "diagnostics/series/thinned.h"

namespace dlcheck {

struct Collected {
  std::string quantity, thing, unit;  // as in a Series
  int rank = 0;
  std::vector<StepValue> samples;  // as recorded
};

// By quantity, thing and process. Time and memory grow with the samples.
std::vector<Collected> CollectSamples(const Trace& trace);

}  // namespace dlcheck
