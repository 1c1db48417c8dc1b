// The clock that durations and deadlines are measured by: it is never set back nor forward.
#pragma once

#include <cstdint>

#include "absl/time/time.h"
#include "checks/records/trace_writer.h"

namespace dlcheck {

// Since an arbitrary moment.
inline absl::Duration MonotonicNow() {
  return absl::Nanoseconds(static_cast<int64_t>(MonotonicTime()));
}

}  // namespace dlcheck
