// The buffers of a model (such as running statistics) on each rank as an evaluation begins.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"
#include "checks/signals/distributed/rank_groups.h"

namespace dlcheck {

struct RankBuffers {
  static constexpr std::string_view kName = "buffers by process";
  struct Buffer {
    std::string name;
    int64_t evaluations = 0;                // which two or more processes made after the same step
    int64_t differing = 0;                  // of them
    int64_t first_step = 0, last_step = 0;  // of those that differ
    Ranks odd;                              // in the first of them
  };
  struct Group {
    std::string name;
    std::vector<Buffer> buffers;
    bool never_sent = false;  // broadcast_buffers=False
  };
  std::vector<Group> groups;  // of replicas

  // Errors: NotFound if no step was observed; FailedPrecondition if no two ranks evaluated a model
  // with buffers.
  static absl::StatusOr<RankBuffers> From(const Run& run);
};

}  // namespace dlcheck
