// Optimizers that are created again every step or two, over the same parameters.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Rebuilding {
  static constexpr std::string_view kName = "rebuilding of optimizers";
  int64_t optimizers = 0;  // the longest row of them, one after the other
  int64_t steps = 0;       // that they made
  int64_t first_step = 0, last_step = 0;
  std::string type, first_parameter;
  SiteId site = 0;               // that built the second or, where unknown, of the first step
  int64_t judged = 0;            // sampled steps
  const Trace* trace = nullptr;  // for sites; valid as long as the run

  // A row ends at an optimizer of another type or over other parameters, at one that makes more
  // than two steps or steps again later, where state is loaded in between, and where steps were not
  // sampled. Optimizers that keep no state are not in any, nor are searches, which build theirs
  // from scratch.
  //
  // Errors: NotFound if no optimizer step was observed.
  static absl::StatusOr<Rebuilding> From(const Run& run);
};

}  // namespace dlcheck
