// The averaged weights that a program keeps: where each update left them.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Averaging {
  static constexpr std::string_view kName = "averaging";
  struct Update {
    int64_t step;
    double distance;  // of averaged from live weights after it
    double moved;     // what it added to the averaged weights
  };
  // Those seen but for the first, which copies by design.
  std::vector<Update> updates;
  int64_t moving_steps = 0;     // sampled steps that moved any weight
  std::optional<double> decay;  // as declared

  // Errors: NotFound if no update of an average was recorded.
  static absl::StatusOr<Averaging> From(const Run& run);
};

}  // namespace dlcheck
