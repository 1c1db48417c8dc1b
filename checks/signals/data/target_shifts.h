// The offset between targets and the tokens of the model's input.
#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct TargetShifts {
  static constexpr std::string_view kName = "target shifts";
  std::vector<int64_t> steps;  // ascending
  std::set<int64_t> shifts;    // of all losses in all steps
  std::string function;        // the first loss

  // Of the first process. Errors: NotFound if no targets were tokens of an input.
  static absl::StatusOr<TargetShifts> From(const Run& run);
};

}  // namespace dlcheck
