// Numbers that stand for the rows of a batch.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace dlcheck {

// One for each row of (rows, ...): equal rows have equal ones. Empty of what cannot be read here,
// of more than 256 rows, and of more than 64 MB. Cost: one pass over the batch.
std::vector<uint64_t> RowDigests(const at::Tensor& batch);

// Whether rows have eight entries or more, half of them fractions, as the first 65,536 of the batch
// tell. Such rows are hardly ever equal by chance; those of few categories are.
bool HasFractions(const at::Tensor& batch);

}  // namespace dlcheck
