// Gradients that go between the ranks in bf16: half the bytes, and 8 bits of each number.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>

#include "reference/distributed/process_group/ranks.h"

namespace c10d {
class CommHookInterface;
}  // namespace c10d

namespace dlcheck::reference {

// What a rank sends of its `gradients`, of any shape and type, for the sum to be the mean over
// `world` ranks: in bf16, and divided there, as PyTorch's bf16_compress_hook does.
torch::Tensor PartOfMeanInBf16(const torch::Tensor& gradients, int64_t world);

// For c10d's Reducer: takes the mean of a bucket over the ranks so, and gives it back in the
// bucket's own type. The sum is of bf16 as well, rounded after each rank.
std::unique_ptr<c10d::CommHookInterface> MeanInBf16(const Ranks& ranks);

}  // namespace dlcheck::reference
