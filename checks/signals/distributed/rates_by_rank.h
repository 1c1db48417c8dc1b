// Steps in which ranks that train together use different learning rates.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct RatesByRank {
  static constexpr std::string_view kName = "learning rates by process";
  struct Difference {
    int64_t step = -1;  // the first in which a group's rate is another on some
    double first = 0, other = 0;
    uint16_t first_rank = 0, other_rank = 0;
  };
  std::map<std::string, Difference> groups;  // of parameters, those that differ, by name

  // Errors: NotFound if no learning rate was observed.
  static absl::StatusOr<RatesByRank> From(const Run& run);
};

}  // namespace dlcheck
