// Puts findings in the order in which a person should read them: causes before the symptoms that
// they explain, then by severity. Symptoms are folded under their cause, not dropped.
#pragma once

#include <vector>

#include "checks/engine/report.h"

namespace dlcheck {

struct Cause {
  const Result* result;
  std::vector<const Result*> symptoms;  // failed checks that this one explains
};

// The failed results of a report; pointers into it.
std::vector<Cause> Triage(const Report& report);

}  // namespace dlcheck
