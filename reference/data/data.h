// Samples as tensors, and batches that depend on nothing but (seed, epoch, step): the same step
// gives the same batch whatever was taken before.
//
// Letters: N rows of a split, B batch.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dlcheck/plugin.h"

namespace dlcheck::reference {

struct Batch {
  torch::Tensor x;  // (B, sample shape), float
  torch::Tensor y;  // (B), int64
};

// x becomes (x - mean) / deviation.
struct Normalisation {
  double mean;
  double deviation;
};

struct Dataset {
  InputShape sample_shape;
  int64_t classes;
  Batch train, val;          // all N rows of each split
  torch::Tensor mean_image;  // (1, sample shape), of train
};

// Reads a fixture file; `normalisation` replaces the statistics in the file. Errors: InputRejected.
Dataset LoadDataset(const std::string& path, const std::optional<Normalisation>& normalisation);

// The digits that come with this program: ../share/dlcheck/fixtures/digits.h5 from its folder.
std::string DefaultDataPath();

class Batches {
 public:
  // Errors: UsageError if batch_size is more than the rows of `samples`.
  Batches(Batch samples, int64_t batch_size, uint64_t seed);

  // The batch of a step. Each epoch is a new order of all rows; what is left over at its end, less
  // than a batch, is not used in it. Cost: a new order once an epoch, else one copy of B rows.
  Batch At(int64_t step);

 private:
  Batch samples_;
  int64_t batch_size_;
  uint64_t seed_;
  int64_t epoch_ = -1;   // that order_ is of
  torch::Tensor order_;  // (N), int64
};

// A random order of `rows` rows. Fisher and Yates's shuffle over splitmix64.
std::vector<int64_t> EpochOrder(int64_t rows, uint64_t seed, int64_t epoch);

}  // namespace dlcheck::reference
