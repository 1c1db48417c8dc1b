#include "reference/distributed/health/deadline.h"

#include "reference/distributed/health/ranks_lost.h"

namespace dlcheck::reference {

Deadline::Deadline(std::chrono::milliseconds limit, int64_t rank, const std::string& why)
    : thread_([this, limit, rank, why] {
        std::unique_lock lock(mutex_);
        if (!changed_.wait_for(lock, limit, [this] { return is_met_; })) EndAsLost(rank, why);
      }) {}

Deadline::~Deadline() {
  {
    const std::lock_guard lock(mutex_);
    is_met_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

}  // namespace dlcheck::reference
