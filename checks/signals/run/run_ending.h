// How the program ended, and at which step.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "checks/engine/trace.h"

namespace dlcheck {

struct RunEnding {
  static constexpr std::string_view kName = "run ending";
  Ending ending;
  int64_t steps = 0;                          // optimizer steps recorded, of one process
  bool may_be_cut = false;                    // more may have been made
  std::string rejected_file, rejected_cause;  // of an input that the host refused; empty if none
  std::string exception, exception_file;  // what ended a Python program; empty if none or not seen
  int exception_line = 0;
  std::string model;  // of a host that says which it trains: a word, or the path of a user's

  static absl::StatusOr<RunEnding> From(const Run& run);
};

}  // namespace dlcheck
