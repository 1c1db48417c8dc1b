// Parameters that stopped requiring a gradient during the run, and how far later steps changed
// them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct FrozenParameters {
  static constexpr std::string_view kName = "frozen parameters";
  struct Move {
    int64_t step;
    double norm;
  };
  struct Parameter {
    std::string name;
    int64_t frozen_at = 0;    // first step that began with it frozen
    std::vector<Move> steps;  // sampled steps after that one at which it was measured
    // Its gradient's norm grew while it was frozen, so that it required one in between.
    bool fresh_gradients = false;
  };
  std::vector<Parameter> parameters;  // one entry for each time that one was frozen

  // What moves in the very step that finds it frozen had its gradient from before, and is left out.
  //
  // Errors: NotFound if it was not measured how far parameters moved; FailedPrecondition if none
  // was seen to be frozen.
  static absl::StatusOr<FrozenParameters> From(const Run& run);
};

}  // namespace dlcheck
