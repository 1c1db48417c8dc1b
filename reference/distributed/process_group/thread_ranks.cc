#include "reference/distributed/process_group/thread_ranks.h"

#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include <exception>
#include <memory>
#include <mutex>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "reference/distributed/process_group/group.h"
#include "reference/distributed/process_group/thread_backend.h"
#include "reference/distributed/process_group/thread_rendezvous.h"
#include "reference/distributed/process_group/thread_scheduler.h"

namespace dlcheck::reference {
namespace {

// What the ranks share, and the first error of any.
struct Together {
  Together(int64_t ranks, std::chrono::milliseconds patience)
      : world(ranks),
        scheduler(ranks),
        rendezvous(std::make_shared<ThreadRendezvous>(ranks, patience, scheduler)) {}

  void Failed(int64_t rank, const std::string& why) {
    {
      const std::lock_guard lock(mutex);
      if (!error) error = std::current_exception();
    }
    rendezvous->Leave(rank, why);
  }

  int64_t world;
  ThreadScheduler scheduler;
  std::shared_ptr<ThreadRendezvous> rendezvous;
  c10::intrusive_ptr<c10d::HashStore> store = c10::make_intrusive<c10d::HashStore>();
  std::mutex mutex;
  std::exception_ptr error;
};

// As the group of `members`, of whom `rank` is one.
Ranks MembersOf(Together& together, int64_t rank, const std::vector<int64_t>& members) {
  const auto backend = c10::make_intrusive<ThreadBackend>(together.rendezvous, rank, members);
  const auto part = [&together, rank, members](const std::string& /*name*/,
                                               const std::vector<int64_t>& places) {
    std::vector<int64_t> own;
    for (const int64_t place : places) own.push_back(members[static_cast<size_t>(place)]);
    return MembersOf(together, rank, own);
  };
  constexpr auto kType = c10d::ProcessGroup::BackendType::CUSTOM;
  return RanksOf(together.store, {{at::kCPU, kType, backend}, {at::kCUDA, kType, backend}}, part);
}

void RunRank(int64_t rank, Together& together,
             const std::function<void(const Ranks& ranks)>& work) {
  together.scheduler.Begin(rank);
  try {
    std::vector<int64_t> everyone(static_cast<size_t>(together.world));
    std::iota(everyone.begin(), everyone.end(), 0);
    work(MembersOf(together, rank, everyone));
    together.rendezvous->Leave(rank, "its run ended");
  } catch (const c10::Error& error) {
    together.Failed(rank, error.what_without_backtrace());
  } catch (const std::exception& error) {
    together.Failed(rank, error.what());
  }
  together.scheduler.End(rank);
}

}  // namespace

void RunThreadRanks(int64_t world, const std::function<void(const Ranks& ranks)>& work,
                    std::chrono::milliseconds patience) {
  Together together(world, patience);
  std::vector<std::thread> threads;
  for (int64_t rank = 0; rank < world; ++rank) {
    threads.emplace_back([&, rank] { RunRank(rank, together, work); });
  }
  for (std::thread& thread : threads) thread.join();
  if (together.error) std::rethrow_exception(together.error);
}

}  // namespace dlcheck::reference
