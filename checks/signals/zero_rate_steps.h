// What became of the weights in steps at a learning rate of 0.
#pragma once

#include <cstdint>
#include <map>
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
    double resolution = 0;  // of its numbers
    int64_t steps = 0;      // in which it changed
    double smallest = 0;    // of these changes, of its size or that of the optimizer's parameters
    int growth = 0;         // 1 if each made it longer, -1 shorter, and nothing else; 0: neither
  };
  struct Optimizer {
    std::string name;              // "optimizer#0"
    std::vector<int64_t> steps;    // in which its parameters were compared
    double compared = 0;           // parameters, at last
    int64_t drawn = 0;             // steps that drew random numbers
    bool between_steps = false;    // something changed between two of its steps
    std::vector<Parameter> moved;  // parameters that changed in some step
  };
  std::map<int, Optimizer> optimizers;  // by ordinal

  // Of the first process alone. Errors: NotFound if no optimizer made enough steps;
  // FailedPrecondition with the host's reason if none could be compared.
  static absl::StatusOr<ZeroRateSteps> From(const Run& run);
};

}  // namespace dlcheck
