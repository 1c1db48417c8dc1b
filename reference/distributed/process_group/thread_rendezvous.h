// Where the threads of one process that are ranks meet: each brings tensors, and works out its own
// result from what all have brought.
#pragma once

#include <torch/torch.h>

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "reference/distributed/process_group/thread_scheduler.h"

namespace dlcheck::reference {

class ThreadRendezvous {
 public:
  using Tensors = std::vector<torch::Tensor>;

  // `patience`: how long a rank waits for the others. While it waits, another has the turn.
  ThreadRendezvous(int64_t ranks, std::chrono::milliseconds patience, ThreadScheduler& scheduler);

  // Blocks until every rank is here with a call of the same words, then until each has worked out
  // its result; so a result may be written over what was brought. `all` is by rank.
  //
  // Errors: c10::Error on every rank where the calls differ, a rank left or patience is over; the
  //         message names the rank.
  Tensors Meet(int64_t rank, const std::string& call, Tensors brought,
               const std::function<Tensors(const std::vector<Tensors>& all)>& work);

  // That this rank is gone, and why: those who wait for it, now or later, are told.
  void Leave(int64_t rank, const std::string& why);

 private:
  // Blocks until all ranks are here; throws if that cannot be. The last to come calls
  // `when_complete`.
  void Gather(int64_t rank, const std::function<void()>& when_complete);
  // Below: while mutex_ is held.
  void Fail(const std::string& why);
  void CompareCalls();
  std::string Absent() const;

  const std::chrono::milliseconds patience_;
  ThreadScheduler& scheduler_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<Tensors> brought_;    // by rank
  std::vector<std::string> calls_;  // by rank
  std::vector<bool> is_here_;       // by rank
  uint64_t times_ = 0;              // that all were here
  std::string failure_;             // empty while all is well
};

}  // namespace dlcheck::reference
