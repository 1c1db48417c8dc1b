// From the raw numbers of a file to what a model takes.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "fixtures/format/element_type.h"

namespace dlcheck::reference {

// x becomes (x - mean) / deviation.
struct Normalization {
  double mean;
  double deviation;
};

// Raw elements of `type`, native byte order, as a tensor of doubles of `shape`. Cost: a copy.
torch::Tensor Doubles(const uint8_t* elements, ElementType type, const std::vector<int64_t>& shape);

// float32, of the same shape. Worked out in double, element by element, so that the bits of a row
// do not depend on the rows beside it. Uses up `doubles`.
torch::Tensor Normalized(torch::Tensor doubles, const Normalization& normalization);

}  // namespace dlcheck::reference
