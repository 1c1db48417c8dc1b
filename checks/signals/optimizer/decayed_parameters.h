// Parameters of normalization layers, and biases, that have weight decay.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct DecayedParameters {
  static constexpr std::string_view kName = "decayed parameters";
  struct Group {
    std::string name;  // "optimizer#0/group#1"
    double decay = 0;  // above 0
    std::vector<std::string> norms, biases;
    size_t parameters = 0;  // of the group
  };
  std::vector<Group> groups;  // those with a decay

  // Errors: NotFound if no step was observed; FailedPrecondition if no group is known to have a
  // decay.
  static absl::StatusOr<DecayedParameters> From(const Run& run);
};

}  // namespace dlcheck
