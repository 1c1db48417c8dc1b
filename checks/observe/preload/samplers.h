// What is known of the samplers of LibTorch's data loaders. Any thread.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dlcheck {

// One batch, as a sampler chose it.
struct ChosenBatch {
  int loader;  // samplers alike, over as many samples, have the same number
  bool is_random;
  size_t samples;     // of the data set; 0 if not known
  size_t batch_size;  // that was asked for
  int64_t place;      // in its pass
  size_t size;        // samples of this batch
  uint64_t digest;    // of their numbers
  int64_t pass;       // of its loader, from 1
};

// How many samples a loader last asked for at a time; 0 before the first batch.
size_t SampledBatchSize();

}  // namespace dlcheck
