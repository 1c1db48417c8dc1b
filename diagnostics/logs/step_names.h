// What the readers of logs share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnostics/logs/log.h"

namespace dlcheck {

// The place of the name that counts steps ("step", "global_step", "iteration", ...), else of one
// that counts epochs; the number of names where there is none.
size_t StepNameIn(const std::vector<std::string>& names);

// The step that a number says, rounded down as a part of an epoch is; none if it is not from 0 to
// 2^53.
std::optional<int64_t> StepOf(double number);

// Notes what could not be read, up to kMostFlaws.
void AddFlaw(std::string flaw, Log& log);

}  // namespace dlcheck
