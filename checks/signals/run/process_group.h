// The number of processes that a run had.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct ProcessGroup {
  static constexpr std::string_view kName = "process group";
  int64_t processes = 0;  // two or more

  // Errors: NotFound if no optimizer step was observed; FailedPrecondition if one process trained.
  static absl::StatusOr<ProcessGroup> From(const Run& run);
};

}  // namespace dlcheck
