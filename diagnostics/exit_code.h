// The exit code that a report leads to, and its reason in a few words.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/report.h"

namespace dlcheck {

// What beside the report decides.
struct ExitRules {
  Severity fail_on = Severity::kError;
  std::vector<std::string> required = {};  // ids of checks that must reach a verdict
  bool partial = false;                    // damaged and missing records count as whole
  bool interrupted = false;
};

struct Exit {
  int code;
  std::string reason;
};

// Several reasons at once rank 2, 130, 124, 3, 1, 4, 5, 0.
Exit ExitOf(const Report& report, const ExitRules& rules);

}  // namespace dlcheck
