// Models whose training forwards ran in eval mode, from the first step or from a later one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/check.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct TrainingModes {
  static constexpr std::string_view kName = "training modes";
  struct Model {
    int ordinal = 0;
    std::vector<std::string> modules;         // that ran after the change
    std::vector<std::string> mode_dependent;  // that give other outputs in training mode
    int64_t last_training = 0;                // last sampled step with a module in training mode
    int64_t first_evaluation = 0, last_evaluation = 0;  // sampled steps after it, in which none was
    int64_t steps_after = 0;
    bool evaluated_between = false;
    // It was switched to evaluation mode once more after that evaluation, or another optimizer
    // trains it from there on: a new phase of training.
    bool may_be_meant = false;
    bool only_own = false;  // no layer of PyTorch depends on the mode, only forwards that read it
    Place switched = {};    // the line that switched it to evaluation mode; empty where unknown
  };
  // A model that is trained, and of which no module ever ran in training mode.
  struct Never {
    std::vector<std::string> mode_dependent;  // that ran
    bool only_normalization = true;           // all of those are
    bool only_own = true;        // all of those are the program's own forwards that read it
    double optimized_share = 0;  // of the elements of its parameters
    int64_t first_step = 0, last_step = 0, steps = 0;  // sampled, in which it ran
    Place switched = {};  // the line that switched it to evaluation mode; empty where unknown
  };
  // Of each model that ran in training mode, those with sampled steps after its last training mode.
  std::vector<Model> left;
  std::vector<Never> never;
  bool state_loaded = false;
  int64_t models = 0;  // that ran in any mode and have something that depends on it
  int64_t steps = 0;   // sampled

  // Looks at steps that an optimizer of the model took: forwards of a validation, with gradients
  // enabled, come before or besides those of training and do not make a step. A model that is
  // switched to training mode again is in neither list.
  //
  // Errors: NotFound if no training forward was observed; FailedPrecondition if no module depends
  // on the mode.
  static absl::StatusOr<TrainingModes> From(const Run& run);
};

}  // namespace dlcheck
