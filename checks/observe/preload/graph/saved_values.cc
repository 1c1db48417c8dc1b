#include "checks/observe/preload/graph/saved_values.h"

#include <ATen/SavedTensorHooks.h>
#include <torch/csrc/autograd/generated/Functions.h>

#include <string>

namespace dlcheck {
namespace {

using torch::autograd::Node;
namespace nodes = torch::autograd::generated;

// The kind of a node is its name: the types of LibTorch's own nodes are not told apart by RTTI in
// every build.
template <typename Kind>
const Kind* As(const Node& node, const char* name) {
  return node.name() == name ? static_cast<const Kind*>(&node) : nullptr;
}

int64_t DimensionsOf(const Node& node) {
  return static_cast<int64_t>(node.input_metadata(0).shape_as_dim_vector().size());
}

int64_t FromTheEnd(int64_t axis, const Node& node) {
  return axis < 0 ? axis : axis - DimensionsOf(node);
}

// To unpack what a program packs would call it once more than it expects.
bool ProgramPacks() { return !at::SavedTensorDefaultHooks::get_tls_state().stack.empty(); }

template <typename Unpack>
at::Tensor Unpacked(const Unpack& unpack) {
  if (ProgramPacks()) return {};
  try {
    return unpack();
  } catch (const c10::Error&) {  // gone, or written to since
    return {};
  }
}

}  // namespace

at::Tensor SavedExponential(Node& node) {
  const auto* exponential = As<nodes::ExpBackward0>(node, "ExpBackward0");
  if (exponential == nullptr) return {};
  return Unpacked([&] { return exponential->result_.unpack(node.getptr()); });
}

std::pair<at::Tensor, at::Tensor> SavedFactors(Node& node) {
  const auto* product = As<nodes::MulBackward0>(node, "MulBackward0");
  if (product == nullptr) return {};
  return {Unpacked([&] { return product->self_.unpack(); }),
          Unpacked([&] { return product->other_.unpack(); })};
}

std::optional<std::pair<double, double>> ClampBoundsOf(const Node& node) {
  const auto* clamp = As<nodes::ClampBackward1>(node, "ClampBackward1");
  if (clamp == nullptr || !clamp->min || !clamp->max) return std::nullopt;
  return std::make_pair(clamp->min->toDouble(), clamp->max->toDouble());
}

std::optional<int64_t> SoftmaxAxisOf(const Node& node) {
  if (const auto* softmax = As<nodes::SoftmaxBackward0>(node, "SoftmaxBackward0")) {
    return FromTheEnd(softmax->dim, node);
  }
  if (const auto* logarithm = As<nodes::LogSoftmaxBackward0>(node, "LogSoftmaxBackward0")) {
    return FromTheEnd(logarithm->dim, node);
  }
  return std::nullopt;
}

std::optional<std::pair<int64_t, int64_t>> TransposedBy(const Node& node) {
  const auto* transpose = As<nodes::TransposeBackward0>(node, "TransposeBackward0");
  if (transpose == nullptr) return std::nullopt;
  return std::make_pair(FromTheEnd(transpose->dim0, node), FromTheEnd(transpose->dim1, node));
}

}  // namespace dlcheck
