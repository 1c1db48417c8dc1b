// The RNG state at the first step after the program set its seed.
#pragma once

#include <cstdint>
#include <map>
#include <string_view>
#include <tuple>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct DrawnStates {
  static constexpr std::string_view kName = "random numbers after a seed";
  // An optimizer, and the digest of the state at one of its steps.
  using State = std::tuple<ThingId, double, double>;
  std::map<State, std::vector<int64_t>> steps;  // ascending, all different
  NamedSite site;                               // of the last call that set the seed
  int64_t seeds = 0;                            // that a step drew after

  // Of the first process only. Errors: NotFound if no seed was set that a step drew after.
  static absl::StatusOr<DrawnStates> From(const Run& run);
};

}  // namespace dlcheck
