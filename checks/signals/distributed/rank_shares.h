// The weight of each rank's targets in the steps that a group makes together.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"
#include "checks/signals/distributed/rank_groups.h"

namespace dlcheck {

struct RankShares {
  static constexpr std::string_view kName = "shares of the loss by process";
  struct Part {
    double share = 0;    // of the mean loss over its own targets; of all backward calls of the step
    double targets = 0;  // that count
    int64_t calls = 0;   // of backward, in the step
  };
  struct Step {
    int64_t step = 0;
    ByRank<Part> parts;         // of all members
    double Unevenness() const;  // the most targets over the fewest
  };
  struct Group {
    std::string name;
    std::vector<Step> steps;  // those of which the parts of all members are known; ascending
    // What the program multiplies the gradients by after the wrapper shared them, in each sampled
    // step; 0 where it is not known, or another at times.
    double factor = 0;
  };
  // Of replicas in a wrapper, which takes the mean over processes; by hand anything may be done to
  // gradients before they are put together.
  std::vector<Group> groups;

  // Errors: NotFound if no step was observed; FailedPrecondition if no weights are shared by
  // several processes; NotFound if no step showed what the losses of all of them began from.
  static absl::StatusOr<RankShares> From(const Run& run);
};

}  // namespace dlcheck
