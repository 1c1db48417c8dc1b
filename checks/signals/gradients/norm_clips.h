// Steps that clip by the L2 norm: the norm of the gradients before clipping, and the bound.
#pragma once

#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct NormClips {
  static constexpr std::string_view kName = "clippings by norm";
  struct Step {
    int64_t step = 0;
    double norm = 0;      // of all parameters together, as consumed
    double smallest = 0;  // of one that is not zero; infinite if there is none
    double bound = 0;     // of several clippings, each of other parameters, the norm of theirs
    double elements = 0;  // of the parameters with a gradient

    // A clipped norm is the bound, up to rounding.
    bool IsAtBound() const { return norm >= 0.999 * bound; }

    // Root mean square of all gradients at the bound.
    double Left() const { return bound / std::sqrt(elements); }
  };
  std::vector<Step> steps;  // sampled, ascending
  std::string declared;     // the program's own word on clipping

  // Whether each of the first `count` steps clips all gradients down to a root mean square below
  // `least`.
  bool LeaveLessThan(double least, size_t count) const;

  // Errors: FailedPrecondition if several optimizers step, or no step clips by the L2 norm alone;
  // NotFound if no optimizer step was observed.
  static absl::StatusOr<NormClips> From(const Run& run);
};

}  // namespace dlcheck
