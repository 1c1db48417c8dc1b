// The loss that a program reaches on labels permuted within each batch, and the least loss that a
// model without access to the labels can expect.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

// Over the later half of the losses.
struct ShuffledLosses {
  static constexpr std::string_view kName = "losses on shuffled labels";
  int64_t losses = 0;
  int64_t first_step = 0;
  int64_t last_step = 0;
  double loss = 0;   // their mean
  double floor = 0;  // mean of what the best answer would come to that is one for a whole batch
  double error = 0;  // standard error of the mean of their differences

  // Errors: NotFound if there are too few of them to know an error.
  static absl::StatusOr<ShuffledLosses> From(const Run& run);
};

}  // namespace dlcheck
