#include "reference/distributed/process_group/ranks.h"

#include <torch/csrc/distributed/c10d/comm.hpp>

#include <algorithm>
#include <cstring>
#include <utility>

#include "reference/distributed/health/heartbeat.h"
#include "reference/distributed/process_group/group.h"

namespace dlcheck::reference {

Ranks::Ranks(std::shared_ptr<Group> group)
    : group_(std::move(group)),
      rank_(group_->process_group->getRank()),
      world_(group_->process_group->getSize()) {}

void Ranks::At(int64_t step) const {
  if (heartbeat_) heartbeat_->At(step);
}

std::vector<double> Ranks::Sums(const std::vector<double>& values) const {
  if (!are_many()) return values;
  std::vector<torch::Tensor> sums = {torch::tensor(values, torch::kDouble)};
  group_->process_group->allreduce(sums)->wait();
  const double* data = sums.front().const_data_ptr<double>();
  return {data, data + values.size()};
}

double Ranks::Largest(double value) const {
  if (!are_many()) return value;
  std::vector<torch::Tensor> largest = {torch::tensor(value, torch::kDouble)};
  c10d::AllreduceOptions options;
  options.reduceOp = c10d::ReduceOp::MAX;
  group_->process_group->allreduce(largest, options)->wait();
  return largest.front().item<double>();
}

std::vector<std::string> Ranks::Texts(const std::string& text) const {
  if (!are_many()) return {text};
  const auto size = static_cast<int64_t>(text.size());
  // Of all ranks as long as the longest, with its own length before each.
  const auto room =
      static_cast<int64_t>(sizeof(size)) + static_cast<int64_t>(Largest(static_cast<double>(size)));
  std::vector<torch::Tensor> own = {torch::zeros({room}, torch::kByte)};
  std::memcpy(own.front().data_ptr(), &size, sizeof(size));
  std::memcpy(own.front().data_ptr<uint8_t>() + sizeof(size), text.data(), text.size());
  std::vector<std::vector<torch::Tensor>> all(1);
  for (int64_t rank = 0; rank < world_; ++rank) all[0].push_back(torch::empty_like(own.front()));
  group_->process_group->allgather(all, own)->wait();
  std::vector<std::string> texts;
  for (const torch::Tensor& of_rank : all[0]) {
    const auto* bytes = reinterpret_cast<const char*>(of_rank.const_data_ptr<uint8_t>());
    int64_t length = 0;
    std::memcpy(&length, bytes, sizeof(length));
    texts.emplace_back(bytes + sizeof(length), static_cast<size_t>(length));
  }
  return texts;
}

void Ranks::TakeFromFirst(std::vector<torch::Tensor> tensors) const {
  if (!are_many() || tensors.empty()) return;
  constexpr size_t kTogether = size_t{250}
                               << 20;  // bytes of one broadcast, as PyTorch's DDP has it
  const torch::NoGradGuard no_grad;
  for (torch::Tensor& tensor : tensors) tensor = tensor.detach();
  c10d::broadcast_coalesced(group_->process_group, tensors, kTogether, /*rank=*/0);
}

Ranks RanksOf(const c10::intrusive_ptr<c10d::Store>& store,
              const std::vector<DeviceBackend>& backends, decltype(Group::part) part) {
  const DeviceBackend& first = backends.front();
  auto process_group = c10::make_intrusive<c10d::ProcessGroup>(store, first.backend->getRank(),
                                                               first.backend->getSize());
  for (const auto& [device, type, backend] : backends) {
    process_group->setBackend(device, type, backend);
  }
  process_group->setDefaultBackend(first.type);
  process_group->setGroupName("default");
  return Ranks(std::make_shared<Group>(Group{std::move(process_group), std::move(part)}));
}

bool ReachesGpus(const c10d::ProcessGroup& group) {
  const std::vector<c10::Device> devices = group.getDeviceTypes();
  return std::any_of(devices.begin(), devices.end(),
                     [](const c10::Device& device) { return device.is_cuda(); });
}

int64_t PlaceIn(const std::vector<int64_t>& members, int64_t rank) {
  return std::find(members.begin(), members.end(), rank) - members.begin();
}

}  // namespace dlcheck::reference
