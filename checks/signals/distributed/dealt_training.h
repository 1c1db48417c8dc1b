// How training data is sharded across ranks, and which ranks save or evaluate the trained model.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"
#include "checks/signals/distributed/rank_groups.h"

namespace dlcheck {

struct DealtTraining {
  static constexpr std::string_view kName = "data dealt to processes";
  int64_t processes = 1;  // that a sampler deals to; 1 where none does
  // Processes of which no two had a row in common in their first pass over the data, and how many
  // rows of two were looked at. Empty where some had, or where too few rows are known.
  Ranks apart;
  int64_t rows = 0;
  // Those that wrote a file or, where none did, evaluated something: what others learn is not used.
  Ranks users;

  // Errors: NotFound if neither a batch of a loader was trained on nor rows are known.
  static absl::StatusOr<DealtTraining> From(const Run& run);
};

}  // namespace dlcheck
