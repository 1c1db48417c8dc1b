// The lines of the program around those that findings name, for the HTML page.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "checks/engine/evidence.h"
#include "checks/engine/report.h"
#include "diagnostics/render/render.h"

namespace dlcheck::cli {

// Of the first line of each finding that has one, five lines before and after, in files as they are
// now. A file that is gone, is none, or is larger than 4 MiB has none. Cost: reads each file once.
std::vector<Excerpt> ExcerptsOf(const Report& report);

// What the plain run says of where it ran: "python", "torch", and the version of dlcheck.
std::vector<std::pair<std::string, std::string>> EnvironmentOf(const Evidence& evidence);

}  // namespace dlcheck::cli
