// The memory that each line of a program holds, over the history of a memory snapshot.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct MemoryByLine {
  static constexpr std::string_view kName = "memory by line";
  struct Line {
    std::string name;               // "train.py:41"
    std::vector<double> held = {};  // MiB, after each part of the history
  };
  std::vector<Line> lines;
  double total = 0;  // MiB, of all lines at the end

  // Errors: NotFound unless the run was read from a memory snapshot with a history.
  static absl::StatusOr<MemoryByLine> From(const Run& run);
};

}  // namespace dlcheck
