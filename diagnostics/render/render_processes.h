// The processes of a run side by side, as a table of text.
#pragma once

#include <string>
#include <vector>

#include "checks/engine/processes.h"

namespace dlcheck {

// A line for each of the first sixteen, below one of headings, indented by `indent`. Empty if there
// are none.
std::string RenderProcesses(const std::vector<ProcessSummary>& processes, size_t indent);

}  // namespace dlcheck
