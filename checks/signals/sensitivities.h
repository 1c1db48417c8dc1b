// What trials of a model found: how far its outputs move when something changes that must not matter.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Sensitivities {
  static constexpr std::string_view kName = "sensitivities";
  struct Trial {
    std::string model;
    int64_t step;
    double share;       // how far the outputs move, of their norm
    double rounding;    // what rounding alone explains, in the same unit; of `noise`, active dropouts
    std::string where;  // the module that is to blame, or what says more; may be empty
  };
  struct Of {
    std::vector<Trial> trials;
    std::string untried;  // why there is none, as far as the host says
  };
  Of future;      // later inputs changed, outputs before
  Of copies;      // the same, of models whose targets are their very inputs
  Of neighbours;  // one sample changed, outputs of the others
  Of padding;     // padding changed, outputs at tokens
  Of noise;       // nothing changed but the random numbers

  // Errors: NotFound if no model was tried in any way.
  static absl::StatusOr<Sensitivities> From(const Run& run);
};

}  // namespace dlcheck
