// What checks of averaged weights need before they judge.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "checks/engine/text.h"
#include "checks/signals/optimizer/averaging.h"

namespace dlcheck {

// Errors: NotFound with the reason, for fewer than `fewest` updates.
inline absl::Status HasUpdates(const Averaging& averaging, double fewest) {
  const auto count = static_cast<int64_t>(averaging.updates.size());
  if (static_cast<double>(count) >= fewest) return absl::OkStatus();
  return absl::NotFoundError(StrCat("only ", Counted(count, "update"), " of the EMA weights, but ",
                                    fewest, " are needed"));
}

}  // namespace dlcheck
