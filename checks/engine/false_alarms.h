// How often a check had a finding on healthy programs, as ci/seeds measured it.
#pragma once

#include <cstdint>
#include <string_view>

namespace dlcheck {

struct FalseAlarms {
  std::string_view check;
  int64_t runs;          // of healthy programs in which the check reached a verdict
  int64_t steps;         // optimizer steps in those runs
  int64_t alarmed_runs;  // those with a finding, notes included
  double bound;          // findings per 10,000 steps: the upper end of a one-sided 95 % interval
};

// Null if no healthy program gave the check a verdict, or the check is newer than the measurement.
const FalseAlarms* FindFalseAlarms(std::string_view check);

}  // namespace dlcheck
