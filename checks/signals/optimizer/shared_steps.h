// Parameters that two optimizers updated in turn with the same gradient.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct SharedSteps {
  static constexpr std::string_view kName = "steps that share gradients";
  struct Pair {
    std::string first, second;  // optimizers, in the order of their steps
    // Sampled steps of the second that directly followed one of the first, with no backward call in
    // between, and the parameters that had the same gradient in both.
    std::map<int64_t, std::vector<std::string>> steps;
    SiteId site = 0;  // of the first such step
  };
  std::vector<Pair> pairs;
  int64_t judged = 0;  // steps that directly followed one of another optimizer

  // Errors: NotFound if no step was observed; FailedPrecondition if one optimizer stepped alone.
  static absl::StatusOr<SharedSteps> From(const Run& run);
};

}  // namespace dlcheck
