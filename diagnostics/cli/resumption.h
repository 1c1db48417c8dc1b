// What a run began with: whether it goes on from what another run saved.
#pragma once

#include <set>
#include <string>

#include "checks/engine/trace.h"

namespace dlcheck::cli {

// Files that a run read before its first step; "" stands for all without a name, as buffers.
std::set<std::string> ReadFirst(const Trace& trace);

// True if a model that an optimizer has was given a whole state before the first step, or an
// optimizer was given its state.
bool TrainsLoaded(const Trace& trace);

}  // namespace dlcheck::cli
