// Models whose load_state_dict got a state_dict that shares memory with the model in training.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct OwnStates {
  static constexpr std::string_view kName = "own states";
  struct Load {
    std::string model;
    double parameters = 0;
    int64_t step = 0;
    NamedSite site;  // line 0 if not known
  };
  std::vector<Load> loads;
  int64_t all = 0;  // loads into models, these included

  // Of the first process only. Errors: NotFound if nothing was put into a model.
  static absl::StatusOr<OwnStates> From(const Run& run);
};

}  // namespace dlcheck
