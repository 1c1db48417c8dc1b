// Batch norm over the rows of all ranks together (SyncBatchNorm): its mean and variance are those
// of the joined batch, however unequal the shares, and so are the gradients that go back through
// them.
//
// Letters: B rows of this rank, C channels, H height, W width; n numbers of a channel on all ranks.
//
// Source: Ioffe and Szegedy 2015, section 3 (the gradients); Chan, Golub and LeVeque 1983 (how
// moments of parts become those of the whole).
#pragma once

#include <torch/torch.h>

#include "reference/distributed/process_group/ranks.h"

namespace dlcheck::reference {

// What `norm` makes of `x` (B, C, H, W), of the same shape and type; it works in float32, or in
// float64 of such an `x`. Running statistics move as those of one process would on the joined
// batch. While `norm` evaluates, it is the plain one.
//
// With `own_gradients`, which is wrong, no gradient goes to the rows of other ranks.
//
// REQUIRES: `norm` has weights, running statistics and a momentum. While it trains, all ranks call,
//           and call backward.
// Cost: one collective of 2 C + 1 numbers forward, one of 2 C backward.
torch::Tensor JoinedNorm(const Ranks& ranks, torch::nn::BatchNorm2dImpl& norm,
                         const torch::Tensor& x, bool own_gradients = false);

}  // namespace dlcheck::reference
