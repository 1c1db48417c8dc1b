// How many steps each rank of a group made, and how the rank ended.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"
#include "checks/signals/distributed/rank_groups.h"

namespace dlcheck {

struct RankSteps {
  static constexpr std::string_view kName = "steps by process";
  struct Process {
    int64_t steps = 0;  // of optimizers
    // By optimizer: steps that moved weights.
    std::map<ThingId, int64_t> taken;
    int64_t backwards = 0;    // backward calls
    int64_t evaluations = 0;  // that it began
    bool in_a_step = false;   // a backward call was begun that no step followed
    SiteId last_backward = 0;
    std::string ended;  // "finished", the name of an exception, or "" where nobody knows
  };
  struct Group {
    std::string name;
    ByRank<Process> processes;  // of all members
    // Those of which every step is known, and that step parameters of the group.
    std::set<ThingId> optimizers;
  };
  std::vector<Group> groups;  // of replicas
  bool joins = false;         // the program says that processes may end before others
  const Trace* trace = nullptr;

  // Errors: NotFound if no step was observed; FailedPrecondition if no weights are shared by
  // several processes.
  static absl::StatusOr<RankSteps> From(const Run& run);
};

}  // namespace dlcheck
