// Has the next micro-batches ready before they are asked for. Batches are pure functions of their
// place, so threads change when a batch is made and never what is in it.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "reference/data/batches.h"

namespace dlcheck::reference {

class Prefetch {
 public:
  // `threads` of them keep the `ahead` micro-batches after the last one asked for. With 0 threads
  // each is made when it is asked for. `batches` outlives this.
  Prefetch(const Batches& batches, int64_t threads, int64_t ahead);
  // Waits for batches that are being made; the others are dropped.
  ~Prefetch();
  Prefetch(const Prefetch&) = delete;
  Prefetch& operator=(const Prefetch&) = delete;

  // batches.At(step, micro), and whatever it throws. Steps may come in any order; one that was not
  // expected is made at once by the caller.
  Batch At(int64_t step, int64_t micro = 0);

 private:
  using Key = std::pair<int64_t, int64_t>;  // step, micro
  struct Job {
    Key key;
    std::promise<Batch> promise;
    bool dropped = false;
  };

  std::shared_ptr<Job> TakeJob(const Key& key);
  void Plan(const Key& after);
  void Work();

  const Batches& batches_;
  const int64_t ahead_;
  std::mutex mutex_;  // of all below
  std::condition_variable changed_;
  std::map<Key, std::shared_ptr<Job>> planned_;
  std::deque<std::shared_ptr<Job>> queue_;
  bool stopped_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace dlcheck::reference
