// Which optimizer, model and parameter belong together, read off their names and attributes.
#pragma once

#include <map>
#include <set>
#include <string_view>

#include "checks/engine/trace.h"

namespace dlcheck {

// "optimizer#1/group#0" and "optimizer#1" give 1; -1 for anything else.
int OptimizerOrdinal(std::string_view name);

// Ordinals of the models whose parameters an optimizer holds, by the optimizer's ordinal.
std::map<int, std::set<int>> ModelsOfOptimizers(const Trace& trace);

}  // namespace dlcheck
