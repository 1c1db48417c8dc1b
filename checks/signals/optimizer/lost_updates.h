// Updates that rounding reduced to nothing, for weights in bf16 or fp16.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct LostUpdateCounts {
  static constexpr std::string_view kName = "lost updates";
  struct Parameter {
    std::string name;
    double elements = 0;
    double share = 0;  // of elements that the rule moves and the step left; median of its steps
  };
  std::vector<Parameter> parameters;  // in low precision, whose updates were recomputed
  std::set<int64_t> steps;            // that one of them was seen at
  std::string rounding;               // the program's own word on it

  // Share of all elements. Each parameter counts by its size: where a step sees few of them, as in
  // large models, a median over steps would let many small ones outvote the large.
  // Precondition: a parameter.
  double Share() const;

  // Errors: NotFound if no update was recomputed.
  static absl::StatusOr<LostUpdateCounts> From(const Run& run);
};

}  // namespace dlcheck
