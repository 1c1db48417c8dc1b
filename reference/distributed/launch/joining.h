// How ranks that are processes come together.
#pragma once

#include <chrono>

#include "reference/distributed/launch/placement.h"
#include "reference/distributed/process_group/ranks.h"

namespace dlcheck::reference {

struct JoinLimits {
  std::chrono::seconds join;      // until all must be there
  std::chrono::seconds silence;   // without a sign of life from one of them
  std::chrono::seconds exchange;  // in which all must come to an exchange
};

// Waits until every rank is there. From then on they hear of each other, and this process ends with
// kLostStatus when one is lost.
//
// Errors: UsageError, RanksLost, and what c10d throws if this machine cannot take part.
Ranks JoinRanks(const Placement& placement, const JoinLimits& limits);

}  // namespace dlcheck::reference
