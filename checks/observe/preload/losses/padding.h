// Rows of tokens that are filled up at their end.
#pragma once

#include <torch/torch.h>

namespace dlcheck {

// (rows, positions): true where rows of tokens (rows, positions) are filled up at their end with
// one token that is nowhere else; undefined if they are not, or fewer than three lengths occur.
at::Tensor PaddingOf(const at::Tensor& tokens);

// The same of numbers (rows, positions, features), which are filled up with zeros.
at::Tensor ZeroPaddingOf(const at::Tensor& numbers);

}  // namespace dlcheck
