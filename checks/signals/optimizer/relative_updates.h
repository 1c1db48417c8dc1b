// How far each recorded step moved the parameters of an optimizer, relative to their size.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct RelativeUpdates {
  static constexpr std::string_view kName = "relative updates";
  struct Step {
    int64_t step = 0;
    double ratio = 0;  // L2 norm of the update over that of the weights, all measured parameters
  };
  struct Optimizer {
    std::string name;
    std::vector<Step> steps;  // ascending; only those with nonzero, finite weights
    double Largest() const;   // 0 without steps
  };
  std::vector<Optimizer> optimizers;
  int64_t steps = 0;  // optimizer steps of the run, recorded or not

  // The weights are those before the step where they are known, else those after it.
  //
  // Errors: NotFound if it was not measured how far steps moved parameters.
  static absl::StatusOr<RelativeUpdates> From(const Run& run);
};

}  // namespace dlcheck
