// Ranks that are processes, over gloo and TCP.
#pragma once

#include "reference/distributed/placement.h"
#include "reference/distributed/ranks.h"

namespace dlcheck::reference {

// Waits until every rank is there, at most `patience`, which is also how long a collective may
// take. With GLOO_SOCKET_IFNAME traffic goes through that interface; else over the loopback where
// all ranks are on one machine, and where this machine's name leads to otherwise.
//
// Errors: c10::Error that names the address, if the others are not found there.
Ranks JoinOverGloo(const Placement& placement, std::chrono::milliseconds patience);

}  // namespace dlcheck::reference
