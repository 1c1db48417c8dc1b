// Evaluations that are sharded across ranks in equal parts, for which samples are repeated.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct PaddedEvaluations {
  static constexpr std::string_view kName = "evaluations dealt to several processes";
  struct Loader {
    double samples = 0;                     // of the data
    double padding = 0;                     // repeated
    int64_t first_step = 0, last_step = 0;  // after which evaluations took batches from it
  };
  std::vector<Loader> loaders;  // that evaluations took batches from, sharded across ranks

  // Errors: FailedPrecondition if there is none.
  static absl::StatusOr<PaddedEvaluations> From(const Run& run);
};

}  // namespace dlcheck
