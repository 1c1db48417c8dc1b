// Losses that a line of the program computes in a step and that no backward call reaches.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct UnusedLosses {
  static constexpr std::string_view kName = "losses without backward";
  struct Line {
    NamedSite site;
    int64_t steps = 0;       // in which the line computed a loss
    int64_t only_last = 0;   // of them: steps in which only the last of several was reached
    int64_t losses = 0;      // computed in the last of these steps
    int64_t first_step = 0;  // of them
    int64_t last_step = 0;
  };
  std::vector<Line> lines;

  // Of the first process only. Errors: NotFound if no loss function of PyTorch was called.
  static absl::StatusOr<UnusedLosses> From(const Run& run);
};

}  // namespace dlcheck
