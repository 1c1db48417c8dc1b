// Functions with names of torch.nn.functional, tested on copies: results against the formulas.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct ReferenceErrors {
  static constexpr std::string_view kName = "reference errors";
  struct Trial {
    int64_t step;
    double error, rounding;  // of the norm of what the formula gives
  };
  struct Function {
    std::string name;
    std::string stood_in_by;  // the program's own; empty where it is torch's
    NamedSite site;           // of a call; line 0 if unknown
    std::vector<Trial> trials;
  };
  std::vector<Function> functions;  // of those that could be judged
  std::string untried;              // why another could not; empty without one

  // Errors: NotFound if none was called.
  static absl::StatusOr<ReferenceErrors> From(const Run& run);
};

}  // namespace dlcheck
