// Ranks that are processes, over gloo and TCP.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>

#include "reference/distributed/launch/placement.h"
#include "reference/distributed/process_group/ranks.h"

namespace dlcheck::reference {

// Waits until every rank is there, at most `patience`, which is also how long a collective may
// take. They find each other in `store`. With GLOO_SOCKET_IFNAME traffic goes through that
// interface; else over the loopback where all ranks are on one machine, and where this machine's
// name leads to otherwise.
//
// Errors: an exception that IsOfExchange.
Ranks JoinOverGloo(const c10::intrusive_ptr<c10d::Store>& store, const Placement& placement,
                   std::chrono::milliseconds patience);

}  // namespace dlcheck::reference
