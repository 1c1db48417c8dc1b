// The place of step calls between forward and backward calls, and whether gradients were still
// there at the step: by optimizer.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct StepPlacement {
  static constexpr std::string_view kName = "place of steps";
  struct Optimizer {
    std::string name;
    int64_t steps = 0;     // sampled
    int64_t measured = 0;  // of them, those whose weights were looked at
    int64_t placed = 0;    // of them, those after which the next step is sampled too
    // Of those placed: the forward came, then the step, and the first to come after it is a
    // backward call.
    std::vector<int64_t> before_backward;
    bool consumed = false;  // some step of before_backward had a gradient that is not zero
    SiteId step_site = 0;   // of the first step before its backward
    // Gradients were zeroed between the last backward call and the step, which then had none.
    std::vector<int64_t> cleared;
    SiteId clear_site = 0;  // the first such clearing
  };
  std::vector<Optimizer> optimizers;  // by first step
  bool forward_seen = false, backward_seen = false;
  const Trace* trace = nullptr;  // for sites; valid as long as the run

  // Errors: NotFound if no optimizer step was observed.
  static absl::StatusOr<StepPlacement> From(const Run& run);
};

}  // namespace dlcheck
