// Weights before and after steps at learning rate 0.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct ZeroRateSteps {
  static constexpr std::string_view kName = "steps at a learning rate of 0";
  struct Parameter {
    std::string name;
    double resolution = 0;    // of its numbers
    std::set<int64_t> steps;  // in which most of its numbers changed
    double smallest = 0;      // of these changes, of the size of the weights
    int growth = 0;           // 1 if each made it longer, -1 shorter, and nothing else; 0: neither
    bool between = false;     // it changed between two steps, and not inside of them
  };
  struct Optimizer {
    std::string name;              // "optimizer#0"
    std::vector<int64_t> steps;    // in which its parameters were compared
    double compared = 0;           // parameters, at last
    std::vector<Parameter> moved;  // parameters that changed in some step
    bool unread = false;           // steps at another rate take its weights to the same bits
  };
  std::map<int, Optimizer> optimizers;  // by ordinal

  // Of the first process only. Errors: NotFound if no optimizer made enough steps;
  // FailedPrecondition with the host's reason if none could be compared.
  static absl::StatusOr<ZeroRateSteps> From(const Run& run);
};

}  // namespace dlcheck
