// The number of step calls of a run, and how many of them were skipped; gaps included.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct StepCalls {
  static constexpr std::string_view kName = "step calls";
  int64_t calls = 0;
  int64_t skipped = 0;
  int64_t leading = 0;  // of these: before the first that was taken
  // What a loss scaler expects to lose: one call of each optimizer after each growth of its scale.
  int64_t after_growth = 0;
  int64_t first_skipped = 0, last_skipped = 0;  // steps; 0 if there is none
  SiteId site = 0;                              // of the first one skipped

  // Of the first process only. Errors: NotFound if no step call was observed; FailedPrecondition if
  // nothing is there that leaves steps out.
  static absl::StatusOr<StepCalls> From(const Run& run);
};

}  // namespace dlcheck
