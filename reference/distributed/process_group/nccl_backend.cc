#include "reference/distributed/process_group/nccl_backend.h"

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupNCCL.hpp>

#include "reference/distributed/process_group/group.h"

namespace dlcheck::reference {

void ReachGpus(const Ranks& ranks, std::chrono::milliseconds patience) {
  c10d::ProcessGroup& group = *ranks.group().process_group;
  if (ReachesGpus(group)) return;
  const auto options = c10d::ProcessGroupNCCL::Options::create();
  options->timeout = patience;
  const auto store = c10::make_intrusive<c10d::PrefixStore>("nccl", group.getStore());
  group.setBackend(at::kCUDA, c10d::ProcessGroup::BackendType::NCCL,
                   c10::make_intrusive<c10d::ProcessGroupNCCL>(store, group.getRank(),
                                                               group.getSize(), options));
}

}  // namespace dlcheck::reference
