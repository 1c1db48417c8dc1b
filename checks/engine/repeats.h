// Findings of one check that say the same of the same place again and again.
#pragma once

#include <vector>

#include "checks/engine/check.h"

namespace dlcheck {

// Makes one finding of those that have one severity, the same places with a line among them, and
// messages that differ in numbers alone: the first one, which says how often and until which step.
void JoinRepeats(std::vector<Finding>& findings);

}  // namespace dlcheck
