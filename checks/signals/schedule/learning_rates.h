// The learning rates that steps used, optimizer by optimizer.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct LearningRates {
  static constexpr std::string_view kName = "learning rates";
  struct Optimizer {
    std::string name;                   // "optimizer#0"
    std::map<int64_t, double> highest;  // by step: of all its groups
    double peak = 0;                    // of them
    bool constant = true;               // no group ever changed its learning rate
    bool moved_at_zero = false;         // some step moved weights while all rates were 0
  };
  std::map<int, Optimizer> optimizers;  // by ordinal

  // Of the first process only. Errors: NotFound if no learning rate was recorded.
  static absl::StatusOr<LearningRates> From(const Run& run);
};

}  // namespace dlcheck
