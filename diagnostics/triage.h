// Puts findings in the order in which a person should read them: causes before the symptoms that
// they explain, then by severity. Symptoms are folded under their cause, not dropped.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "checks/engine/report.h"

namespace dlcheck {

struct Cause {
  const Result* result;
  std::vector<const Result*> symptoms;  // failed checks that this one explains
};

// Checks of sizes and of progress, which many faults change, and of what seldom matters: of one
// severity they come behind those of what the program does.
std::span<const std::string_view> Effects();

// The failed results of a report; pointers into it.
std::vector<Cause> Triage(const Report& report);

}  // namespace dlcheck
