// The first step with a non-finite value (NaN or Inf), and where that value was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Finiteness {
  static constexpr std::string_view kName = "finiteness";
  struct Seen {
    std::string name;     // of the parameter, loss or input
    double elements = 0;  // how many are not finite; 0 if not counted
  };
  struct Step {
    int64_t step = -1;  // none
    std::vector<Seen> inputs, losses, gradients, weights;
  };
  // What made the first loss that is not finite, as its graph tells it.
  struct Birth {
    int64_t step = -1;     // none is known
    std::string of;        // "operation", "data" or "parameter"
    std::string name;      // of the operation, of the one that the data went into, or the parameter
    int64_t distance = 0;  // in operations, to the loss
    bool of_nothing = false;  // the operation had no elements
    bool has_range = false;   // of what the operation was given:
    double low = 0, high = 0;
    std::string file;  // where the program calls the operation, if that is one line of it
    int line = 0;      // 0 if it is not known
  };
  // The first step with a value that is not finite, and the first in which it reached what is
  // trained (a consumed gradient or a weight).
  Step first, first_in_training;
  Birth birth;
  int64_t steps_with = 0;
  int64_t values_judged = 0;
  bool scaled =
      false;  // a loss scaler was at work: gradients may overflow, the step is then skipped

  // Errors: NotFound if no loss, gradient or weight was observed.
  static absl::StatusOr<Finiteness> From(const Run& run);
};

}  // namespace dlcheck
