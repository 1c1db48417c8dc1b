// Tells the other ranks several times a second that this one lives and at which step it is, hears
// the same of them, and ends the process when one is lost, though the main thread may wait for it:
// within seconds, and not when a library's time-out is over. Times are by the monotonic clock, and
// only those count in which this process ran.
#pragma once

#include <torch/csrc/distributed/c10d/Store.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "reference/distributed/health/failure_detector.h"
#include "reference/distributed/launch/placement.h"

namespace dlcheck::reference {

class Heartbeat {
 public:
  // A first word, which every rank has to say before any Heartbeat begins.
  static void Announce(c10d::Store& store, int64_t rank);

  // `store` is a connection for this alone.
  Heartbeat(c10::intrusive_ptr<c10d::Store> store, const Placement& placement,
            const FailureDetector::Limits& limits);
  ~Heartbeat();
  Heartbeat(const Heartbeat&) = delete;
  Heartbeat& operator=(const Heartbeat&) = delete;

  // Below: of the main thread.

  // Where the others last see this rank, should it be lost.
  void At(int64_t step);

  // This rank ends in error: of itself, or cut off, as an exchange with the others failed. Tells
  // them. If it was cut off, returns which rank is to blame, as soon as that is known: blocks for
  // about two seconds.
  std::optional<Verdict> Fail(const std::string& why, bool is_cut_off);

  // This rank needs the others no more. The first, in which they meet, waits for theirs, another
  // until the first can hear so. Returns which was lost before that, if one was.
  std::optional<Verdict> Leave();

 private:
  struct Shared;

  std::shared_ptr<Shared> shared_;
  std::thread exchange_, watch_;
};

}  // namespace dlcheck::reference
