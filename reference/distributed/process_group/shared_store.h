// The store in which ranks that are processes find each other: c10d's over TCP, which the first of
// them serves, or who started them.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>

#include "reference/distributed/launch/placement.h"

namespace dlcheck::reference {

// The first rank serves, unless somebody else does; any other connects.
//
// Errors: UsageError if another first rank serves there already; RanksLost if the port is taken, or
// nobody is found there within `limit`. Where something else listens there, which does not answer
// as a store does, the process ends as with that error.
c10::intrusive_ptr<c10d::Store> OpenStore(const Placement& placement,
                                          std::chrono::milliseconds limit);

// One more connection to it.
c10::intrusive_ptr<c10d::Store> ConnectToStore(const Placement& placement,
                                               std::chrono::milliseconds limit);

}  // namespace dlcheck::reference
