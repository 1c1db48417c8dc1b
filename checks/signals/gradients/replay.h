// The operation, data or parameter in which the first non-finite value arose, found by a replay.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct Replay {
  static constexpr std::string_view kName = "replay";
  std::string untold;             // why nothing is known; the rest is then empty
  std::string of;                 // "operation", "constant", "data", "parameter" or "buffer"
  std::string name;               // of the operation, or of the parameter or buffer: "aten::log"
  std::string inputs;             // of the operation: "[0, 3.2]"
  std::string phase;              // "forward", "backward" or "update"
  std::string behind;             // of a backward: what it is the backward of
  std::string module;             // in which it ran; empty outside of all
  std::string reached;            // the parameter where it showed first, if in no loss
  std::string samples;            // places in the batch: "4 and 9"; empty where they are not known
  std::vector<std::string> path;  // operations on the way from the origin to where it showed
  std::string batch;              // the file that the batch was kept in, if that was asked for
  std::string file;               // of the program's line; empty where it is not known
  int line = 0;
  int64_t step = -1;

  // Errors: NotFound if the run ended before the step.
  static absl::StatusOr<Replay> From(const Run& run);
};

}  // namespace dlcheck
