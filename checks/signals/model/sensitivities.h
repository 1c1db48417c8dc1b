// Models, tested on copies: how far outputs change when something changes that must not matter.
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
    double share;     // how far the outputs move, of their norm
    double rounding;  // what rounding alone explains, in the same unit; of `noise`, active dropouts
    std::string where;  // the module that is to blame, or what says more; may be empty
    NamedSite site;     // its line; none where that is not known
  };
  struct Of {
    std::vector<Trial> trials;
    std::string untried;  // why there is none, as far as the host says
  };
  Of future;      // later inputs changed, outputs before
  Of copies;      // the same, of models whose targets are their very inputs
  Of neighbors;   // one sample changed, outputs of the others
  Of padding;     // padding changed, outputs at tokens
  Of lengths;     // padding cut off, outputs of that row
  Of counted;     // nothing changed: `share` targets stand at padding and count, of `rounding`
  Of documents;   // some documents of a row changed, outputs at the others
  Of separation;  // beside it: share of the positions that are kept apart; `rounding`: documents
  Of noise;       // nothing changed but the random numbers
  std::string declared_documents;  // what the user says of documents in one row; may be empty

  // Errors: NotFound if no model was tried in any way.
  static absl::StatusOr<Sensitivities> From(const Run& run);
};

}  // namespace dlcheck
