// The time that each rank of a group needs before it waits for other ranks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"
#include "checks/signals/distributed/rank_groups.h"

namespace dlcheck {

struct RankTimes {
  static constexpr std::string_view kName = "times by process";
  struct Group {
    std::string name;
    int64_t steps = 0;       // that were timed on all members, without the first few
    ByRank<double> medians;  // seconds from the end of a step to the next backward call
    double step = 0;         // median seconds of a whole step
    uint16_t slowest = 0;    // by median
    int64_t behind = 0;      // steps in which that one was the slowest
  };
  std::vector<Group> groups;  // of replicas
  ByRank<double> batches;     // median samples of a batch; 0 if not known

  // Errors: NotFound if no step was observed; FailedPrecondition if no weights are shared by
  // several processes.
  static absl::StatusOr<RankTimes> From(const Run& run);
};

}  // namespace dlcheck
