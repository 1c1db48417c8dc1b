#include "reference/distributed/process_group/shared_store.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>

#include <algorithm>
#include <string>

#include "reference/distributed/health/deadline.h"
#include "reference/distributed/health/ranks_lost.h"
#include "reference/distributed/launch/connectivity.h"
#include "reference/distributed/launch/join_barrier.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

std::string AddressOf(const Placement& placement) {
  return placement.address + ":" + std::to_string(placement.port);
}

c10::intrusive_ptr<c10d::Store> Opened(const Placement& placement, bool serves,
                                       std::chrono::milliseconds limit) {
  c10d::TCPStoreOptions options;
  options.port = placement.port;
  options.isServer = serves;
  options.waitWorkers = false;
  if (serves) options.masterListenFd = placement.listening;
  options.timeout = limit;
  const auto store = c10::make_intrusive<c10d::TCPStore>(placement.address, options);
  return c10::make_intrusive<c10d::PrefixStore>("dlcheck-train/" + placement.attempt, store);
}

// Who else listens there: a first rank is named, anything else does not answer as one.
[[noreturn]] void ThrowTaken(const Placement& placement, const std::string& trouble) {
  std::string first;
  {
    constexpr std::chrono::seconds kLongestAnswer{3};
    const Deadline deadline(kLongestAnswer, placement.rank, trouble);
    try {
      first = FirstIn(*Opened(placement, /*serves=*/false, kLongestAnswer));
    } catch (const c10::Error&) {
      throw RanksLost(trouble);
    }
  }
  throw UsageError("rank 0 came twice: " + first + " serves at " + AddressOf(placement) +
                   " already");
}

c10::intrusive_ptr<c10d::Store> Served(const Placement& placement,
                                       std::chrono::milliseconds limit) {
  RequireRoute(placement.address, placement.port);
  try {
    return Opened(placement, /*serves=*/true, limit);
  } catch (const c10::Error& error) {
    // c10d's words, of which the last are those of the system.
    const std::string why = error.what_without_backtrace();
    const size_t reason = why.rfind("message: ");
    const std::string trouble = "the ranks cannot meet at " + AddressOf(placement) + ": " +
                                (reason == std::string::npos ? why : why.substr(reason + 9));
    if (trouble.find("already in use") != std::string::npos) ThrowTaken(placement, trouble);
    throw RanksLost(trouble);
  }
}

}  // namespace

c10::intrusive_ptr<c10d::Store> OpenStore(const Placement& placement,
                                          std::chrono::milliseconds limit) {
  const bool serves = placement.rank == 0 && !placement.is_served_elsewhere;
  return serves ? Served(placement, limit) : ConnectToStore(placement, limit);
}

c10::intrusive_ptr<c10d::Store> ConnectToStore(const Placement& placement,
                                               std::chrono::milliseconds limit) {
  AwaitListener(placement.address, placement.port, limit);
  // Whoever takes the connection and is a store answers at once, or within seconds if it is busy.
  const Deadline deadline(
      std::min<std::chrono::milliseconds>(limit, std::chrono::seconds(10)), placement.rank,
      "what listens at " + AddressOf(placement) + " is not rank 0: it does not answer as one");
  return Opened(placement, /*serves=*/false, limit);
}

}  // namespace dlcheck::reference
