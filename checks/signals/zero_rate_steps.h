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
  struct Change {
    int64_t step;
    double share;      // of the parameter's size, or of the optimizer's parameters
    double direction;  // cosine of the angle to the parameter; -1 where it shrinks
  };
  struct Parameter {
    std::string name;
    double resolution = 0;  // of its numbers
    std::vector<Change> changes;
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
