#include "reference/distributed/ranks.h"

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <utility>

#include "reference/distributed/group.h"

namespace dlcheck::reference {

Ranks::Ranks(std::shared_ptr<Group> group)
    : group_(std::move(group)),
      rank_(group_->process_group->getRank()),
      world_(group_->process_group->getSize()) {}

std::vector<double> Ranks::Sums(const std::vector<double>& values) const {
  if (!are_many()) return values;
  std::vector<torch::Tensor> sums = {torch::tensor(values, torch::kDouble)};
  group_->process_group->allreduce(sums)->wait();
  const double* data = sums.front().const_data_ptr<double>();
  return {data, data + values.size()};
}

int64_t Ranks::Largest(int64_t value) const {
  if (!are_many()) return value;
  std::vector<torch::Tensor> largest = {torch::tensor(value)};
  c10d::AllreduceOptions options;
  options.reduceOp = c10d::ReduceOp::MAX;
  group_->process_group->allreduce(largest, options)->wait();
  return largest.front().item<int64_t>();
}

void Ranks::TakeFromFirst(std::vector<torch::Tensor> tensors) const {
  if (!are_many() || tensors.empty()) return;
  constexpr size_t kTogether = size_t{250} << 20;  // bytes of one broadcast, as PyTorch's DDP has it
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& tensor : tensors) tensor = tensor.detach();
  c10d::broadcast_coalesced(group_->process_group, tensors, kTogether, /*rank=*/0);
}

Ranks RanksOf(const c10::intrusive_ptr<c10d::Store>& store, c10::DeviceType device,
              c10d::ProcessGroup::BackendType type,
              const c10::intrusive_ptr<c10d::Backend>& backend) {
  auto process_group = c10::make_intrusive<c10d::ProcessGroup>(
      store, backend->getRank(), backend->getSize());
  process_group->setBackend(device, type, backend);
  process_group->setDefaultBackend(type);
  process_group->setGroupName("default");
  return Ranks(std::make_shared<Group>(Group{std::move(process_group)}));
}

}  // namespace dlcheck::reference
