// Weights that an optimizer was given and that never required a gradient.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct FrozenFromStart {
  static constexpr std::string_view kName = "weights frozen from the start";
  std::vector<std::string> weights;  // matrices and kernels of layers
  int64_t parameters = 0;            // of all optimizers
  int64_t steps = 0;                 // of all optimizers, that were seen or counted
  // A file was read, or state was put into a model, before the last optimizer began to step.
  bool loaded = false;

  // Of the first process only. Errors: NotFound if no optimizer step was observed.
  static absl::StatusOr<FrozenFromStart> From(const Run& run);
};

}  // namespace dlcheck
