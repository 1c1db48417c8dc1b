#include "reference/distributed/launch/join_barrier.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "reference/distributed/health/deadline.h"
#include "reference/distributed/health/ranks_lost.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr char kEnd[] = "roll/end", kWorld[] = "roll/world", kCame[] = "roll/came",
               kHeard[] = "roll/heard";
constexpr char kUsage = 'U', kLost = 'L', kComplete = 'C';  // how it ends, before the reason
constexpr milliseconds kBetweenLooks{20};

std::string KeyOf(int64_t rank) { return "roll/" + std::to_string(rank); }

std::string ThisProcess() {
  std::array<char, HOST_NAME_MAX + 1> host{};
  gethostname(host.data(), host.size() - 1);
  return "process " + std::to_string(getpid()) + " on " + host.data();
}

// What stands under a key, once somebody has written it: this rank, if nobody has before.
std::string Written(c10d::Store& store, const std::string& key, const std::string& own) {
  return store.compareSet(key, "", own);
}

// The first rank, with which the store goes, stays until the others have heard why, or a second is
// over; where ranks are refused, also for those that are yet to come, for a few seconds.
[[noreturn]] void Throw(c10d::Store& store, const Placement& placement, const std::string& end) {
  const bool waits = end.front() == kUsage;
  const Clock::time_point last = Clock::now() + std::chrono::seconds(waits ? 5 : 1);
  const int64_t expected = waits ? placement.world : 0;
  const bool stays = store.add(kHeard, 1) > 0 && placement.rank == 0;
  while (stays && store.add(kHeard, 0) < std::max(expected, store.add(kCame, 0)) &&
         Clock::now() < last) {
    std::this_thread::sleep_for(kBetweenLooks);
  }
  if (end.front() == kUsage) throw UsageError(end.substr(1));
  throw RanksLost(end.substr(1));
}

// The reason that came first is everybody's; who comes when the others are complete has its own.
[[noreturn]] void EndAll(c10d::Store& store, const Placement& placement, char kind,
                         const std::string& why) {
  const std::string end = Written(store, kEnd, kind + why);
  Throw(store, placement, end.front() == kComplete ? kind + why : end);
}

void Enter(c10d::Store& store, const Placement& placement) {
  const std::string name = "rank " + std::to_string(placement.rank);
  const std::string world = std::to_string(placement.world);
  store.add(kCame, 1);
  const std::string of_others = Written(store, kWorld, world);
  if (of_others != world) {
    EndAll(store, placement, kUsage,
           name + " is one of " + world + " ranks, but others are of " + of_others);
  }
  const std::string own = ThisProcess();
  const std::string first = Written(store, KeyOf(placement.rank), own);
  if (first != own) {
    EndAll(store, placement, kUsage, name + " came twice: " + first + ", and " + own);
  }
}

std::vector<int64_t> AbsentOf(c10d::Store& store, const std::vector<int64_t>& ranks) {
  std::vector<int64_t> absent;
  for (const int64_t rank : ranks) {
    if (!store.check({KeyOf(rank)})) absent.push_back(rank);
  }
  return absent;
}

std::string Missing(const std::vector<int64_t>& absent, int64_t world) {
  std::string names;
  for (const int64_t rank : absent) names += (names.empty() ? "" : ", ") + std::to_string(rank);
  return "rank " + names + " did not come within rendezvous-timeout; " +
         std::to_string(world - static_cast<int64_t>(absent.size())) + " of " +
         std::to_string(world) + " ranks did";
}

// The first rank says for all that they are complete, so that none goes on alone.
void WaitForAll(c10d::Store& store, const Placement& placement, Clock::time_point end) {
  std::vector<int64_t> absent(static_cast<size_t>(placement.world));
  std::iota(absent.begin(), absent.end(), 0);
  while (!store.check({kEnd})) {
    absent = AbsentOf(store, absent);
    if (Clock::now() >= end) EndAll(store, placement, kLost, Missing(absent, placement.world));
    if (absent.empty() && placement.rank == 0) Written(store, kEnd, {kComplete});
    std::this_thread::sleep_for(kBetweenLooks);
  }
  const std::string how = store.get_to_str(kEnd);
  if (how.front() != kComplete) Throw(store, placement, how);
}

}  // namespace

void JoinBarrier(c10d::Store& store, const Placement& placement, milliseconds limit) {
  // Another leaves the last word to the first, while that is there.
  constexpr milliseconds kForFirst{1000};
  const Clock::time_point end =
      Clock::now() + limit + (placement.rank == 0 ? milliseconds(0) : kForFirst);
  const std::string where = placement.address + ":" + std::to_string(placement.port);
  // The store waits for ever for an answer; refused ranks have five seconds more.
  const Deadline deadline(limit + std::chrono::seconds(7), placement.rank,
                          "rank 0 is stopped or cannot be reached: " + where + " answers no more");
  try {
    Enter(store, placement);
    WaitForAll(store, placement, end);
  } catch (const c10::Error&) {
    throw RanksLost("rank 0 is gone: " + where + " answers no more");
  }
}

std::string FirstIn(c10d::Store& store) { return store.get_to_str(KeyOf(0)); }

}  // namespace dlcheck::reference
