// What nodes of the autograd graph keep for their backward. Each gives nothing for a node of
// another kind, one whose values are gone, and where the program packs what graphs keep.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>
#include <utility>

namespace dlcheck {

// The result of an exponential.
at::Tensor SavedExponential(torch::autograd::Node& node);

// Both factors of a product, of which the graph keeps what it needs.
std::pair<at::Tensor, at::Tensor> SavedFactors(torch::autograd::Node& node);

// The number that a product or quotient multiplies by, where it is one number and no tensor.
std::optional<double> ScalarFactor(const torch::autograd::Node& node);

// What a quotient divides by, of which the graph keeps what it needs.
at::Tensor SavedDivisor(torch::autograd::Node& node);

// Whether a node takes the last place of an axis, counted from the end, and drops what is before.
bool TakesLast(const torch::autograd::Node& node, int64_t axis);

// The bounds of a clamp to two numbers.
std::optional<std::pair<double, double>> ClampBoundsOf(const torch::autograd::Node& node);

// The axis of a softmax or its logarithm, counted from the end: -1 is the last one.
std::optional<int64_t> SoftmaxAxisOf(const torch::autograd::Node& node);

// The two axes that a transpose swaps, counted from the end.
std::optional<std::pair<int64_t, int64_t>> TransposedBy(const torch::autograd::Node& node);

}  // namespace dlcheck
