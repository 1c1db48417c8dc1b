#include "reference/data/prefetch.h"

namespace dlcheck::reference {

Prefetch::Prefetch(const Batches& batches, int64_t threads, int64_t ahead)
    : batches_(batches), ahead_(threads > 0 ? ahead : 0) {
  for (int64_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Work(); });
}

Prefetch::~Prefetch() {
  {
    const std::lock_guard lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

Batch Prefetch::At(int64_t step, int64_t micro) {
  const Key key{step, micro};
  std::shared_ptr<Job> job;
  {
    const std::lock_guard lock(mutex_);
    job = TakeJob(key);
    Plan(key);
  }
  changed_.notify_all();
  return job != nullptr ? job->promise.get_future().get() : batches_.At(step, micro);
}

// A job that is taken belongs to the caller, who waits for it: it can no longer be dropped.
std::shared_ptr<Prefetch::Job> Prefetch::TakeJob(const Key& key) {
  const auto found = planned_.find(key);
  if (found == planned_.end()) return nullptr;
  std::shared_ptr<Job> job = found->second;
  planned_.erase(found);
  return job;
}

void Prefetch::Plan(const Key& after) {
  std::map<Key, std::shared_ptr<Job>> kept;
  Key next = after;
  for (int64_t i = 0; i < ahead_; ++i) {
    const bool window_ends = next.second + 1 >= batches_.MicroBatches(next.first);
    next = window_ends ? Key{next.first + 1, 0} : Key{next.first, next.second + 1};
    std::shared_ptr<Job> job = TakeJob(next);
    if (job == nullptr) {
      job = std::make_shared<Job>();
      job->key = next;
      queue_.push_back(job);
    }
    kept.emplace(next, std::move(job));
  }
  for (const auto& [key, job] : planned_) job->dropped = true;
  planned_ = std::move(kept);
}

void Prefetch::Work() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return stopped_ || !queue_.empty(); });
    if (stopped_) return;
    const std::shared_ptr<Job> job = queue_.front();
    queue_.pop_front();
    if (job->dropped) continue;
    lock.unlock();
    try {
      job->promise.set_value(batches_.At(job->key.first, job->key.second));
    } catch (...) {
      job->promise.set_exception(std::current_exception());
    }
    lock.lock();
  }
}

}  // namespace dlcheck::reference
