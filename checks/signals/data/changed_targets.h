// Inputs that occur again, and whether their targets are the same each time.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct ChangedTargets {
  static constexpr std::string_view kName = "changed targets";
  int64_t repeated = 0;  // steps whose inputs were there before
  int64_t changed = 0;   // those of them with other targets
  int64_t first_step = 0;
  int64_t last_step = 0;

  // Errors: NotFound if no step repeats the inputs of another.
  static absl::StatusOr<ChangedTargets> From(const Run& run);
};

}  // namespace dlcheck
