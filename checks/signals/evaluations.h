// What evaluations did besides measuring: in which mode the model was, and what they left changed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Evaluations {
  static constexpr std::string_view kName = "evaluations";
  struct Evaluation {
    int64_t step = 0;
    int64_t batches = 0, in_training_mode = 0;
    // Digests from before and after are there, and no step was taken in between.
    bool compared = false;
    bool model_changed = false, random_changed = false;
  };
  std::vector<Evaluation> evaluations;  // those that ended at a sampled step
  bool mode_dependent = false;          // some module gives other outputs in training mode

  // Errors: NotFound if no evaluation was seen.
  static absl::StatusOr<Evaluations> From(const Run& run);
};

}  // namespace dlcheck
