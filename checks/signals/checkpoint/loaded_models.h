// Calls of load_state_dict: how much of a model each one matched, and whether the loaded values
// were still there when training began.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct LoadedModels {
  static constexpr std::string_view kName = "states put into models";
  struct Load {
    std::string model;
    int64_t step = 0;
    double share = 0;       // of the model's tensors
    double unexpected = 0;  // tensors of the state that the model has not
    double parameters = 0;  // of the model
  };
  struct Kept {
    std::string model;
    int64_t step = 0;
    double overwritten = 0;  // share of what was compared
    double compared = 0;     // tensors
    bool converted = false;  // the model has parameters of another type than float32
  };
  // The best of those put into one model before one step: programs try several names.
  std::vector<Load> loads;
  std::vector<Kept> kept;
  bool from_file = false;  // a file was read before the first step

  // Of the first process. Errors: NotFound if no state was put into a model.
  static absl::StatusOr<LoadedModels> From(const Run& run);
};

}  // namespace dlcheck
