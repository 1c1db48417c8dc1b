// Optimizers that took the place of others like them, and began without their state.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Replacements {
  static constexpr std::string_view kName = "replacements of optimizers";
  // Optimizers of one class over the same parameters, each in the place of the one before.
  struct Chain {
    std::string type, first_parameter;
    std::vector<int64_t> first_steps;  // of each but the first optimizer
    SiteId site = 0;                   // that built the first of these or, where unknown, of a step
    SiteId built = 0;  // the line that built all of them, the first too; 0 if none did
  };
  std::vector<Chain> chains;  // by their first step

  // A chain ends where the program loads a model's weights in between, as meta-learning does.
  //
  // Errors: NotFound if no optimizer step was observed.
  static absl::StatusOr<Replacements> From(const Run& run);
};

}  // namespace dlcheck
