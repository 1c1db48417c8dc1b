// The mode of the model in each evaluation, and the state that an evaluation changed.
#pragma once

#include <cstdint>
#include <optional>
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
    int64_t with_gradients = 0;  // batches with gradients enabled, in any mode
    // False if a probe took it for one by itself, and no program said so.
    bool declared = true;
    // Digests from before and after are there, and no step was taken in between.
    bool compared = false;
    bool model_changed = false, random_changed = false;
    bool is_last = false;  // no step followed it
    bool feeds = false;    // its model's outputs are another model's inputs, as a generator's are
  };
  std::vector<Evaluation> evaluations;  // those that ended at a sampled step
  std::optional<Evaluation> ending;     // a forward that was left out, if no step followed it
  bool mode_dependent = false;          // some module gives other outputs in training mode
  bool reads_mode = false;              // some forward of the program's own reads the mode

  // Of those not declared, a single forward without a loss is left out, as samples are drawn from
  // a generator, unless its inputs come again and its outputs feed no other model; and all of them
  // are, if there is one in more than one step of four: then they are part of the steps.
  //
  // Errors: NotFound if no evaluation was observed; FailedPrecondition if all were skipped and none
  // was the ending.
  static absl::StatusOr<Evaluations> From(const Run& run);
};

}  // namespace dlcheck
