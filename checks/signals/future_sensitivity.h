// Trials of a model that is to be causal: whether early outputs depend on later inputs.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct FutureSensitivity {
  static constexpr std::string_view kName = "future_sensitivity";
  struct Trial {
    std::string model;
    int64_t step;
    double share;     // how far early outputs move, of their norm
    double rounding;  // what rounding alone explains, in the same unit
  };
  std::vector<Trial> trials;

  // Errors: NotFound if there was no such trial.
  static absl::StatusOr<FutureSensitivity> From(const Run& run);
};

}  // namespace dlcheck
