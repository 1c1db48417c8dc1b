#include "reference/distributed/process_group/thread_rendezvous.h"

#include <algorithm>
#include <utility>

namespace dlcheck::reference {

ThreadRendezvous::ThreadRendezvous(int64_t ranks, std::chrono::milliseconds patience,
                                   ThreadScheduler& scheduler)
    : patience_(patience),
      scheduler_(scheduler),
      brought_(static_cast<size_t>(ranks)),
      calls_(static_cast<size_t>(ranks)),
      is_here_(static_cast<size_t>(ranks)) {}

ThreadRendezvous::Tensors ThreadRendezvous::Meet(
    int64_t rank, const std::string& call, Tensors brought,
    const std::function<Tensors(const std::vector<Tensors>& all)>& work) {
  {
    const std::lock_guard lock(mutex_);
    brought_[static_cast<size_t>(rank)] = std::move(brought);
    calls_[static_cast<size_t>(rank)] = call;
  }
  Gather(rank, [this] { CompareCalls(); });
  Tensors result = work(brought_);
  Gather(rank, [] {});
  const std::lock_guard lock(mutex_);
  brought_[static_cast<size_t>(rank)].clear();
  return result;
}

void ThreadRendezvous::Leave(int64_t rank, const std::string& why) {
  const std::lock_guard lock(mutex_);
  Fail("rank " + std::to_string(rank) + " is gone: " + why);
}

void ThreadRendezvous::Gather(int64_t rank, const std::function<void()>& when_complete) {
  scheduler_.End(rank);
  std::unique_lock lock(mutex_);
  const uint64_t before = times_;
  is_here_[static_cast<size_t>(rank)] = true;
  if (std::all_of(is_here_.begin(), is_here_.end(), [](bool here) { return here; })) {
    when_complete();
    is_here_.assign(is_here_.size(), false);
    times_ += failure_.empty() ? 1 : 0;
    changed_.notify_all();
  }
  const bool in_time =
      changed_.wait_for(lock, patience_, [&] { return times_ != before || !failure_.empty(); });
  if (!in_time) Fail("rank " + Absent() + " did not come");
  const bool is_complete = times_ != before;
  const std::string failure = failure_;
  lock.unlock();
  scheduler_.Begin(rank);
  // Whoever left after that was no more needed here.
  TORCH_CHECK(is_complete, failure);
}

void ThreadRendezvous::Fail(const std::string& why) {
  if (failure_.empty()) failure_ = why;
  changed_.notify_all();
}

void ThreadRendezvous::CompareCalls() {
  for (size_t rank = 1; rank < calls_.size(); ++rank) {
    if (calls_[rank] == calls_[0]) continue;
    return Fail("rank " + std::to_string(rank) + " calls " + calls_[rank] + ", but rank 0 calls " +
                calls_[0]);
  }
}

std::string ThreadRendezvous::Absent() const {
  std::string absent;
  for (size_t rank = 0; rank < is_here_.size(); ++rank) {
    if (is_here_[rank]) continue;
    absent += (absent.empty() ? "" : ", ") + std::to_string(rank);
  }
  return absent;
}

}  // namespace dlcheck::reference
