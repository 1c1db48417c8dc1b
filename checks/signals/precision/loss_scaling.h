// The loss scale, step by step, and the steps whose gradients overflowed.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct LossScaling {
  static constexpr std::string_view kName = "loss scaling";
  // A sampled step whose scale is known.
  struct Step {
    int64_t step = 0;
    double scale = 1;
    bool taken = true;
    bool overflowed = false;  // it was offered gradients that are not finite
    double next_scale = 0;    // at the next step of the same optimizer; 0 if not known
  };
  std::vector<Step> steps;          // ascending
  std::map<int64_t, double> scale;  // by step, sampled or not
  bool unscales = false;            // some step, sampled or not, saw its gradients unscaled
  size_t optimizers = 0;
  double declared_interval = 0;  // clean steps before the scale grows; 0 if not declared
  // Ranges of steps, both ends included, after which nobody knows how many clean steps the scaler
  // counts: state was loaded, or a step overflowed or was skipped and the scale did not fall.
  std::vector<std::pair<int64_t, int64_t>> unclear;

  bool IsUnclear(int64_t step) const;
  // True if the scale rose from one step to the next.
  bool Grows() const;

  // Errors: NotFound if no step was observed; FailedPrecondition if no loss scale was reported.
  static absl::StatusOr<LossScaling> From(const Run& run);
};

}  // namespace dlcheck
