// The step at which a run can be interrupted so that a second run can resume from its checkpoint.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct SavedPoint {
  static constexpr std::string_view kName = "saved point";
  int64_t step = 0;  // after so many steps the model was saved, with more of the state if ever
  int64_t end = 0;   // the step of the next save, or of the run's end
  std::set<std::string> files;  // saved until then, as the program names them

  // Errors: FailedPrecondition if no model is saved between two steps.
  static absl::StatusOr<SavedPoint> From(const Run& run);
};

}  // namespace dlcheck
