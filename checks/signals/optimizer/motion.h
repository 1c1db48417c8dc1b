// Parameters whose steps had a gradient and a learning rate, and whether any step changed them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Motion {
  static constexpr std::string_view kName = "motion of parameters";
  struct Parameter {
    std::string name;
    int64_t judged = 0;  // steps at which rounding cannot hide the update
    bool moved = false;  // in some of them
    int64_t first_step = 0, last_step = 0;
    double gradient = 0, rate = 0;  // at the last of them
  };
  std::vector<Parameter> parameters;  // with a judged step

  // Judges parameters of float32 and float64 in optimizers of torch.optim whose update is known to
  // be the rate times the gradient, or of the rate's own size: others may hold updates back.
  //
  // Errors: NotFound if it was not measured how far steps moved parameters; FailedPrecondition if
  // no step could be judged.
  static absl::StatusOr<Motion> From(const Run& run);
};

}  // namespace dlcheck
