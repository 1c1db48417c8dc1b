// To how many processes the samples that a program trains on are dealt.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct DealtTraining {
  static constexpr std::string_view kName = "data dealt to processes";
  int64_t processes = 1;  // 1 where nothing deals them

  // Errors: NotFound if no batch of a loader was trained on.
  static absl::StatusOr<DealtTraining> From(const Run& run);
};

}  // namespace dlcheck
