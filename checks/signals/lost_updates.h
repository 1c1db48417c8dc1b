// Updates that rounding swallowed: of weights in bf16 or fp16, by step.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct LostUpdateCounts {
  static constexpr std::string_view kName = "lost updates";
  struct Counts {
    double lost = 0;  // elements that the rule moves and the step left as they were
    double elements = 0;
  };
  std::map<int64_t, Counts> steps;
  std::vector<std::string> parameters;  // in low precision, whose updates were worked out again
  std::string rounding;                 // the program's own word on it

  // Errors: NotFound if no update was worked out again.
  static absl::StatusOr<LostUpdateCounts> From(const Run& run);
};

}  // namespace dlcheck
