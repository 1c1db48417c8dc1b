// The collective operations that each rank called, in order, by process group.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"
#include "checks/signals/distributed/rank_groups.h"

namespace dlcheck {

struct RankCalls {
  static constexpr std::string_view kName = "collective operations by process";
  struct Call {
    std::string name;  // "all_reduce float32"
    double bytes = 0;
    int64_t step = 0;
    SiteId site = 0;
    // Whether all members have to give equally many bytes.
    bool is_even() const;
  };
  struct Group {
    std::string name;  // "0-3"
    // Up to the first that was only counted, because its step was not sampled.
    ByRank<std::vector<Call>> calls;
  };
  std::vector<Group> groups;  // of two or more
  const Trace* trace = nullptr;

  // Errors: NotFound if no step was observed; FailedPrecondition if no two ranks called any.
  static absl::StatusOr<RankCalls> From(const Run& run);
};

}  // namespace dlcheck
