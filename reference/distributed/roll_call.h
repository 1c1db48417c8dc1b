// Before ranks that are processes do anything together: whether each is there, and there once.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>

#include "reference/distributed/placement.h"

namespace dlcheck::reference {

// Returns when all ranks have called, within `limit`.
//
// Errors, the same on all that are there: UsageError if a rank comes twice, or one was told of
// another number of ranks; RanksLost that says who did not come.
void CallRoll(c10d::Store& store, const Placement& placement, std::chrono::milliseconds limit);

}  // namespace dlcheck::reference
