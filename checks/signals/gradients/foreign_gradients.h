// Optimizers whose steps use gradients that were left by the backward of another optimizer's step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct ForeignGradients {
  static constexpr std::string_view kName = "gradients of two optimizers";
  struct Optimizer {
    std::string name, other;  // "optimizer#0"; that which stepped before
    int64_t judged = 0;       // steps after one of another optimizer
    int64_t foreign = 0;      // of these, with gradients of the backward before
    int64_t first_step = 0, last_step = 0;
    double norm = 0;         // L2, of what was left, in the first such step
    NamedSite left_at, own;  // the lines of the two backward calls; line 0 if not known
  };
  std::vector<Optimizer> optimizers;  // by name

  // Errors: NotFound if no optimizer step was observed; FailedPrecondition if only one optimizer
  // steps.
  static absl::StatusOr<ForeignGradients> From(const Run& run);
};

}  // namespace dlcheck
