// Parameters that a program declares tied, and how far apart their values are.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"
#include "checks/signals/run/stated.h"

namespace dlcheck {

struct Ties {
  static constexpr std::string_view kName = "ties";
  struct Tie {
    std::string one, other;
    std::span<const Sample> distances;  // valid as long as the run
  };
  std::vector<Tie> ties;
  std::vector<Statement> copies;  // of a Python program: layers that began as an embedding

  // Errors: NotFound if no tie was looked at, and no copy was seen.
  static absl::StatusOr<Ties> From(const Run& run);
};

}  // namespace dlcheck
