// Optimizers with gradients to use, but whose step() is never called.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Unstepped {
  static constexpr std::string_view kName = "optimizers that never step";
  struct Optimizer {
    std::string name;
    int64_t cleared = 0;  // calls
    int64_t waiting = 0;  // backward calls, while no optimizer of the program had made a step
    NamedSite site;       // of the first; line 0 if not known
  };
  std::vector<Optimizer> optimizers;
  int64_t stepped = 0;          // optimizers that do step
  int64_t moved_otherwise = 0;  // that do not, and whose parameters change nevertheless
  int64_t backwards = 0;        // backward calls

  // Of the first process only; gaps count. Errors: NotFound if no optimizer was observed.
  static absl::StatusOr<Unstepped> From(const Run& run);
};

}  // namespace dlcheck
