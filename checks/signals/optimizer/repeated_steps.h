// Steps of an optimizer on gradients that it had used before, with no backward in between.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct RepeatedSteps {
  static constexpr std::string_view kName = "repeated steps";
  struct Optimizer {
    std::string name;
    std::vector<int64_t> repeated;  // steps, ascending
    NamedSite site;                 // of the first of them
  };
  std::vector<Optimizer> optimizers;  // with such a step
  int64_t judged = 0;                 // pairs of steps that follow each other

  // Of the first process only. Errors: NotFound if no two steps of an optimizer were observed in a
  // row.
  static absl::StatusOr<RepeatedSteps> From(const Run& run);
};

}  // namespace dlcheck
