// What the records of the runs lack, as text.
#pragma once

#include <string>

#include "checks/engine/report.h"

namespace dlcheck {

// What a probe could not see and what input the program refused, a line each, not wrapped; empty
// mostly.
std::string RenderRecording(const Recording& recording);

// The first few of each kind, a row each; empty if every run was recorded whole.
std::string RenderLosses(const Report& report);

}  // namespace dlcheck
