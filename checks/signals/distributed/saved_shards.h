// The shards of sharded tensors that a run wrote to files.
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

struct SavedShards {
  static constexpr std::string_view kName = "saved parts of tensors";
  // What was written in one step.
  struct Save {
    std::string group;  // of the ranks that hold the shards
    int64_t parts = 0;  // of each tensor
    int64_t step = 0;
    std::set<int64_t> saved;    // numbers of parts, from 0
    ByRank<std::string> files;  // the last that each process wrote a part to
  };
  std::vector<Save> saves;   // by group, then by step
  bool one_machine = false;  // all processes run on one machine
  bool saves_whole = false;  // a model went into a file without any of its tensors being a part

  // Errors: NotFound if nothing was saved; FailedPrecondition if no part of a tensor was.
  static absl::StatusOr<SavedShards> From(const Run& run);
};

}  // namespace dlcheck
