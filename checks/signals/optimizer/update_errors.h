// The difference between the weights after a step and the rule of the optimizer, where a probe
// recomputed the step.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct UpdateErrors {
  static constexpr std::string_view kName = "update errors";
  struct Parameter {
    std::string name;
    std::vector<Sample> errors;  // value: of the rule's update; aux: what rounding explains
  };
  std::vector<Parameter> parameters;
  std::set<int64_t> steps;  // at which anything was recomputed

  // Leaves out steps whose gradients still carried a loss scale when the optimizer was called: a
  // fused kernel may divide by it inside.
  //
  // Errors: NotFound if nothing was recomputed.
  static absl::StatusOr<UpdateErrors> From(const Run& run);
};

}  // namespace dlcheck
