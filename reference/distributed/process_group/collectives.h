// The two collectives of sharded training, which PyTorch has renamed: from _allgather_base and
// _reduce_scatter_base to all_gather_single and reduce_scatter_single. Which is there is asked of
// the compiler and not of the version.
#pragma once

#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

namespace dlcheck::reference {

// `output` (W n) gets the `input` (n) of each rank, in their order.
template <typename Group>
c10::intrusive_ptr<c10d::Work> AllGather(Group& group, torch::Tensor& output,
                                         torch::Tensor& input) {
  if constexpr (requires { group.all_gather_single(output, input); }) {
    return group.all_gather_single(output, input);
  } else {
    return group._allgather_base(output, input);
  }
}

// `output` (n) gets the sum over the ranks of this rank's n numbers of `input` (W n).
template <typename Group>
c10::intrusive_ptr<c10d::Work> ReduceScatter(Group& group, torch::Tensor& output,
                                             torch::Tensor& input) {
  if constexpr (requires { group.reduce_scatter_single(output, input); }) {
    return group.reduce_scatter_single(output, input);
  } else {
    return group._reduce_scatter_base(output, input);
  }
}

}  // namespace dlcheck::reference
