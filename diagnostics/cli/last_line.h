// The last that a program said before it failed in an experiment, for the reason that is given.
#pragma once

#include <string>

#include "checks/engine/trace.h"

namespace dlcheck::cli {

// Sets process attribute `last_line`, if the run failed and its output (a file) ends with one.
void AddLastLine(const std::string& output, Run& run);

}  // namespace dlcheck::cli
