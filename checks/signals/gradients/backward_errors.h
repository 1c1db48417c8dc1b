// Custom autograd functions, tested on copies: backward against finite differences of forward.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct BackwardErrors {
  static constexpr std::string_view kName = "backward errors";
  struct Trial {
    int64_t step;
    double error, rounding;  // as shares of the slope
    double ratio;            // what backward gives over the slope
  };
  struct Function {
    std::string name;
    NamedSite site;  // of its backward; line 0 if unknown
    std::vector<Trial> trials;
  };
  std::vector<Function> functions;  // of those that could be judged
  std::string untried;              // why another could not; empty without one

  // Errors: NotFound if no function of the program's own was called.
  static absl::StatusOr<BackwardErrors> From(const Run& run);
};

}  // namespace dlcheck
