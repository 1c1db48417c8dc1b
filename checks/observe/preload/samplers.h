// What is known of the samplers of LibTorch's data loaders.
#pragma once

#include <cstddef>

namespace dlcheck {

// How many samples a loader last asked for at a time; 0 before the first batch. Any thread.
size_t SampledBatchSize();

}  // namespace dlcheck
