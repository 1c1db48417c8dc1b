// What the readers of logs share.
#pragma once

#include <string>
#include <vector>

#include "diagnostics/logs/log.h"

namespace dlcheck {

// The place of the name that counts steps ("step", "global_step", "iteration", ...), else of one
// that counts epochs; the number of names where there is none.
size_t StepNameIn(const std::vector<std::string>& names);

// Notes what could not be read, up to kMostFlaws.
void AddFlaw(std::string flaw, Log& log);

}  // namespace dlcheck
