#include "reference/distributed/process_group/thread_backend.h"

#include <ATen/core/ivalue.h>

#include <sstream>
#include <utility>

#include "reference/distributed/process_group/group.h"

namespace dlcheck::reference {
namespace {

using Tensors = ThreadBackend::Tensors;

// What is done when it is made.
class Done : public c10d::Work {
 public:
  Done(int rank, c10d::OpType type, Tensors outputs)
      : Work(rank, type),
        outputs_(std::move(outputs)),
        future_(c10::make_intrusive<c10::ivalue::Future>(
            c10::ListType::create(c10::TensorType::get()))) {
    future_->markCompleted(at::IValue(outputs_));
  }

  bool isCompleted() override { return true; }
  bool isSuccess() const override { return true; }
  bool wait(std::chrono::milliseconds /*timeout*/) override { return true; }
  Tensors result() override { return outputs_; }
  c10::intrusive_ptr<c10::ivalue::Future> getFuture() override { return future_; }

 private:
  Tensors outputs_;
  c10::intrusive_ptr<c10::ivalue::Future> future_;
};

void Combine(c10d::ReduceOp::RedOpType operation, at::Tensor& sum, const at::Tensor& next) {
  switch (operation) {
    case c10d::ReduceOp::SUM:
    case c10d::ReduceOp::AVG:
      sum.add_(next);
      return;
    case c10d::ReduceOp::PRODUCT:
      sum.mul_(next);
      return;
    case c10d::ReduceOp::MIN:
      at::minimum_out(sum, sum, next);
      return;
    case c10d::ReduceOp::MAX:
      at::maximum_out(sum, sum, next);
      return;
    default:
      TORCH_CHECK(false, "ranks that are threads have no such reduction");
  }
}

// One tensor of all ranks, from rank 0 on.
at::Tensor Reduced(c10d::ReduceOp::RedOpType operation, const Tensors& of_ranks) {
  at::Tensor sum = of_ranks.front().clone();
  for (size_t rank = 1; rank < of_ranks.size(); ++rank) Combine(operation, sum, of_ranks[rank]);
  if (operation == c10d::ReduceOp::AVG) sum.div_(static_cast<double>(of_ranks.size()));
  return sum;
}

Tensors OfAllRanks(const std::vector<Tensors>& all, size_t place) {
  Tensors one;
  for (const Tensors& of_rank : all) one.push_back(of_rank[place]);
  return one;
}

std::string Described(const std::string& name, const Tensors& tensors) {
  std::ostringstream text;
  text << name;
  const char* between = " of ";
  for (const at::Tensor& tensor : tensors) {
    text << between << tensor.sizes() << " " << tensor.scalar_type();
    between = ", ";
  }
  return text.str();
}

}  // namespace

ThreadBackend::ThreadBackend(std::shared_ptr<ThreadRendezvous> rendezvous, int64_t rank,
                             std::vector<int64_t> members)
    : Backend(static_cast<int>(PlaceIn(members, rank)), static_cast<int>(members.size())),
      rendezvous_(std::move(rendezvous)),
      rendezvous_rank_(rank),
      members_(std::move(members)) {}

ThreadBackend::Work ThreadBackend::Do(
    c10d::OpType type, const std::string& name, Tensors outputs, const Tensors& inputs,
    const std::function<Tensors(const std::vector<Tensors>& all)>& work) {
  const torch::NoGradGuard no_grad;
  const auto of_members = [&](const std::vector<Tensors>& everyone) {
    std::vector<Tensors> all;
    for (const int64_t member : members_) all.push_back(everyone[static_cast<size_t>(member)]);
    return work(all);
  };
  const Tensors results =
      rendezvous_->Meet(rendezvous_rank_, Described(name, inputs), inputs, of_members);
  for (size_t i = 0; i < results.size(); ++i) {
    outputs[i].copy_(results[i].view_as(outputs[i]));
  }
  return c10::make_intrusive<Done>(rank_, type, std::move(outputs));
}

ThreadBackend::Work ThreadBackend::allreduce(Tensors& tensors,
                                             const c10d::AllreduceOptions& options) {
  return Do(c10d::OpType::ALLREDUCE, "allreduce", tensors, tensors,
            [&](const std::vector<Tensors>& all) {
              Tensors sums;
              for (size_t place = 0; place < tensors.size(); ++place) {
                sums.push_back(Reduced(options.reduceOp, OfAllRanks(all, place)));
              }
              return sums;
            });
}

ThreadBackend::Work ThreadBackend::broadcast(Tensors& tensors,
                                             const c10d::BroadcastOptions& options) {
  return Do(c10d::OpType::BROADCAST, "broadcast", tensors, tensors,
            [&](const std::vector<Tensors>& all) {
              const auto root = static_cast<size_t>(options.rootRank);
              Tensors copies;
              for (const at::Tensor& tensor : all[root]) copies.push_back(tensor.clone());
              return copies;
            });
}

ThreadBackend::Work ThreadBackend::allgather(std::vector<Tensors>& outputs, Tensors& inputs,
                                             const c10d::AllgatherOptions& /*options*/) {
  Tensors flat;
  for (const Tensors& of_place : outputs) flat.insert(flat.end(), of_place.begin(), of_place.end());
  return Do(c10d::OpType::ALLGATHER, "allgather", flat, inputs,
            [&](const std::vector<Tensors>& all) {
              Tensors copies;
              for (size_t place = 0; place < inputs.size(); ++place) {
                for (const at::Tensor& tensor : OfAllRanks(all, place)) {
                  copies.push_back(tensor.clone());
                }
              }
              return copies;
            });
}

ThreadBackend::Work ThreadBackend::_allgather_base(Tensor& output, Tensor& input,
                                                   const c10d::AllgatherOptions& /*options*/) {
  return Do(c10d::OpType::_ALLGATHER_BASE, "all-gather", {output}, {input},
            [](const std::vector<Tensors>& all) {
              Tensors flat;
              for (const at::Tensor& part : OfAllRanks(all, 0)) flat.push_back(part.flatten());
              return Tensors{at::cat(flat)};
            });
}

ThreadBackend::Work ThreadBackend::_reduce_scatter_base(Tensor& output, Tensor& input,
                                                        const c10d::ReduceScatterOptions& options) {
  return Do(c10d::OpType::_REDUCE_SCATTER_BASE, "reduce-scatter", {output}, {input},
            [&](const std::vector<Tensors>& all) {
              Tensors parts;
              for (const at::Tensor& whole : OfAllRanks(all, 0)) {
                parts.push_back(whole.flatten().chunk(size_)[static_cast<size_t>(rank_)]);
              }
              return Tensors{Reduced(options.reduceOp, parts)};
            });
}

}  // namespace dlcheck::reference
