// The time budget of a diagnosis beyond the plain run.
#pragma once

#include "absl/time/time.h"

namespace dlcheck {

struct Allowance {
  absl::Duration time = absl::Minutes(10);  // of all experiments together
  bool experiments = false;                 // --deep
};

}  // namespace dlcheck
