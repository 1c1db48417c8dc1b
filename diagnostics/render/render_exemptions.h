// What does not count because the user said so.
#pragma once

#include <string>

#include "checks/engine/report.h"

namespace dlcheck {

// Findings that are accepted or suppressed, and suppressions that are idle. `new_only` leaves out
// what is accepted.
std::string RenderExemptions(const Report& report, bool new_only);

}  // namespace dlcheck
