// Before ranks that are processes do anything together: whether each is there, and there once.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>
#include <string>

#include "reference/distributed/launch/placement.h"

namespace dlcheck::reference {

// Returns when all ranks have called, within `limit`.
//
// Errors, the same on all that are there: UsageError if a rank comes twice, or one was told of
// another number of ranks; RanksLost that says who did not come. Where the store stops to answer,
// the process ends as with that error.
void JoinBarrier(c10d::Store& store, const Placement& placement, std::chrono::milliseconds limit);

// Which process has called as the first rank. Blocks until one has; for ever where none does.
std::string FirstIn(c10d::Store& store);

}  // namespace dlcheck::reference
