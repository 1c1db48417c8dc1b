// What each process of a run did, side by side.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "checks/engine/trace.h"

namespace dlcheck {

struct ProcessSummary {
  uint16_t rank = 0;
  int64_t steps = 0;
  double last_loss = 0;     // nan if none was seen
  double batch = 0;         // median samples of a batch that a model was given; 0 if not known
  double step_seconds = 0;  // median; 0 if not known
  // Median of the time from the end of a step to the next backward call, in which no process waits
  // for another; 0 if not known.
  double own_seconds = 0;
  std::string ended;  // "finished", the name of an exception, or "" where nobody knows
};

// How a process ended: "finished", the name of an exception, or "" where nobody knows.
std::string EndOf(const Trace& trace, uint16_t rank);

// Those that trained, by rank; empty if fewer than two did.
std::vector<ProcessSummary> ProcessesIn(const Trace& trace);

}  // namespace dlcheck
