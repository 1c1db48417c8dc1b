// Findings in the order in which formats without folding list them.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/report.h"
#include "diagnostics/render/render.h"

namespace dlcheck {

// All failed results: causes as a person should read them, then what they explain. Pointers into
// the report.
std::vector<const Result*> InOrder(const Report& report);

// The first place of a finding that has a line; null if none has.
const Place* LineOf(const Finding& finding);

// A path as seen from the folder of the run, where it lies below it.
std::string ShownPath(const std::string& file, const Frame& frame);

}  // namespace dlcheck
