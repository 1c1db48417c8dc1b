#include "reference/distributed/launch/joining.h"

#include <exception>
#include <memory>

#include "reference/distributed/health/heartbeat.h"
#include "reference/distributed/health/ranks_lost.h"
#include "reference/distributed/launch/join_barrier.h"
#include "reference/distributed/process_group/exchange_errors.h"
#include "reference/distributed/process_group/gloo_group.h"
#include "reference/distributed/process_group/shared_store.h"

namespace dlcheck::reference {
namespace {

Ranks Met(const c10::intrusive_ptr<c10d::Store>& store, const Placement& placement,
          const JoinLimits& limits, Heartbeat& heartbeat) {
  try {
    return JoinOverGloo(store, placement, limits.exchange);
  } catch (const std::exception& error) {
    const auto verdict = heartbeat.Fail(error.what(), IsOfExchange(error));
    if (verdict) throw RanksLost(verdict->line);
    throw;
  }
}

}  // namespace

Ranks JoinRanks(const Placement& placement, const JoinLimits& limits) {
  const auto store = OpenStore(placement, limits.join);
  Heartbeat::Announce(*store, placement.rank);
  JoinBarrier(*store, placement, limits.join);
  const auto heartbeat = std::make_shared<Heartbeat>(
      ConnectToStore(placement, limits.join), placement, FailureDetector::Limits{limits.silence});
  Ranks ranks = Met(store, placement, limits, *heartbeat);
  ranks.KeepInTouch(heartbeat);
  return ranks;
}

}  // namespace dlcheck::reference
