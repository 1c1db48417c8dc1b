// Which of two programs trains better, judged by one number of each of their runs.
#pragma once

#include <string>
#include <vector>

#include "diagnostics/series/series.h"

namespace dlcheck {

enum class Better : uint8_t { kSame, kBetter, kWorse, kUnknown };

// "the same", "better", "worse", "not to be told".
std::string_view BetterName(Better better);

struct LossOutcome {
  Better b = Better::kUnknown;     // of B beside A
  std::string measure;             // "last evaluation loss"; empty where both have none
  std::vector<double> of_a, of_b;  // one number a run, in the order given
  double low = 0, high = 0;  // 95 % interval of mean of B minus mean of A; with two runs of each
  std::string reason;        // why it is not to be told
};

// REQUIRES: `values` are not empty.
double MeanOf(const std::vector<double>& values);

// `equal`: no number of the two runs differs, and both have as many steps. A loss is better where
// it is lower.
LossOutcome LossOutcomeOf(const std::vector<const SeriesOfRun*>& a,
                          const std::vector<const SeriesOfRun*>& b, bool equal);

}  // namespace dlcheck
