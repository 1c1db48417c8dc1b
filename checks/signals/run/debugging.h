// Debugging features (such as anomaly detection) that were on while steps ran.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Debugging {
  static constexpr std::string_view kName = "debugging facilities";
  std::map<std::string, std::set<int64_t>> facilities;  // sampled steps with each
  std::set<int64_t> steps;                              // sampled

  // Of the first process. Errors: NotFound if no optimizer step was observed.
  static absl::StatusOr<Debugging> From(const Run& run);
};

}  // namespace dlcheck
