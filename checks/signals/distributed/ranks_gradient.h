// The gradient that several ranks step with, and the gradient of a single process on all their
// batches.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct RanksGradient {
  static constexpr std::string_view kName = "gradient of several processes";
  int64_t ranks = 0;
  int64_t different = 0;  // gradients among them
  double ratio = 0;       // over the single process's, along that
  double rest = 0;        // beside it, of its norm

  // Errors: NotFound if none was compared.
  static absl::StatusOr<RanksGradient> From(const Run& run);
};

}  // namespace dlcheck
