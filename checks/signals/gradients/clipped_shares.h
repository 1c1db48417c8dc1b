// How many of the gradients that steps consumed had been clipped, optimizer by optimizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct ClippedShares {
  static constexpr std::string_view kName = "clipped shares";
  struct Optimizer {
    std::string name;
    std::vector<int64_t> steps;        // sampled, in which some of them were clipped
    std::vector<int64_t> in_part;      // of those, the steps in which not all were
    double clipped = 0, consumed = 0;  // in the last of these
  };
  std::vector<Optimizer> optimizers;
  std::string declared;  // what the program says is to be clipped

  // Errors: NotFound if no step was observed; FailedPrecondition if nothing was clipped.
  static absl::StatusOr<ClippedShares> From(const Run& run);
};

}  // namespace dlcheck
