// The collectives of ranks that are threads, over a ThreadRendezvous. Each call has ended when it
// returns. Groups of some of them meet where all do: they are parts of all, which call as one.
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "reference/distributed/process_group/thread_rendezvous.h"

namespace dlcheck::reference {

class ThreadBackend : public c10d::Backend {
 public:
  using Tensor = at::Tensor;
  using Tensors = std::vector<at::Tensor>;
  using Work = c10::intrusive_ptr<c10d::Work>;

  // Of the group of `members`, by their ranks among all who meet; `rank` is one of them.
  ThreadBackend(std::shared_ptr<ThreadRendezvous> rendezvous, int64_t rank,
                std::vector<int64_t> members);

  const std::string getBackendName() const override { return "threads"; }

  // Sums, means, products and extremes, added from rank 0 on.
  Work allreduce(Tensors& tensors, const c10d::AllreduceOptions& options) override;
  Work broadcast(Tensors& tensors, const c10d::BroadcastOptions& options) override;
  Work allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                 const c10d::AllgatherOptions& options) override;
  Work _allgather_base(Tensor& output, Tensor& input,
                       const c10d::AllgatherOptions& options) override;
  Work _reduce_scatter_base(Tensor& output, Tensor& input,
                            const c10d::ReduceScatterOptions& options) override;

 private:
  // Meets the others and writes the results over `outputs`. `all` is what the members brought.
  Work Do(c10d::OpType type, const std::string& name, Tensors outputs, const Tensors& inputs,
          const std::function<Tensors(const std::vector<Tensors>& all)>& work);

  std::shared_ptr<ThreadRendezvous> rendezvous_;
  const int64_t rendezvous_rank_;
  const std::vector<int64_t> members_;
};

}  // namespace dlcheck::reference
