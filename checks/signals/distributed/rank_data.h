// The training data of each rank in a group, and the random numbers that its forward passes draw.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"
#include "checks/signals/distributed/rank_groups.h"
#include "checks/signals/distributed/rank_rows.h"

namespace dlcheck {

struct RankData {
  static constexpr std::string_view kName = "data by process";
  struct Group {
    std::string name;
    Ranks members;
    // Of two or more processes that were given the same first input: which, in how many
    // forward passes of all members, and of how many.
    Ranks same = {};
    int64_t same_passes = 0, passes = 0, first_step = 0, last_step = 0;
    bool same_losses = true;  // in each of these
    int64_t same_inputs = 0;  // different ones among these

    CommonRows rows = {};

    // At how many steps forward passes drew random numbers on all members, and at how many of
    // them from the same state of the generator on two or more.
    int64_t draws = 0, same_draws = 0;
    Ranks same_drawers = {};
  };
  std::vector<Group> groups;  // of replicas
  // A loader draws samples at random in each process for itself, or there is none that would say.
  bool orders_of_their_own = false;

  // Errors: NotFound if no step was observed; FailedPrecondition if no weights are shared by
  // several processes.
  static absl::StatusOr<RankData> From(const Run& run);
};

}  // namespace dlcheck
