#include "checks/observe/preload/graph/saved_values.h"

#include <ATen/SavedTensorHooks.h>
#include <torch/csrc/autograd/generated/Functions.h>

#include <string>
#include <vector>

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

std::optional<double> NumberOf(const at::Scalar& scalar) {
  if (scalar.isComplex() || scalar.isBoolean() || scalar.isSymbolic()) return std::nullopt;
  return scalar.toDouble();
}

// Whether `place` of the axis `dim` of a tensor of these sizes is the last one of `axis`, which is
// counted from the end.
bool IsLast(int64_t dim, const c10::SymInt& place, const std::vector<c10::SymInt>& sizes,
            int64_t axis) {
  const auto dimensions = static_cast<int64_t>(sizes.size());
  const int64_t of = axis + dimensions;
  if (of < 0 || (dim < 0 ? dim + dimensions : dim) != of) return false;
  const std::optional<int64_t> at = place.maybe_as_int();
  const std::optional<int64_t> size = sizes[static_cast<size_t>(of)].maybe_as_int();
  return at && size && (*at == -1 || *at == *size - 1);
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

std::optional<double> ScalarFactor(const Node& node) {
  if (const auto* product = As<nodes::MulBackward1>(node, "MulBackward1")) {
    return NumberOf(product->other);
  }
  const auto* quotient = As<nodes::DivBackward1>(node, "DivBackward1");
  const std::optional<double> divisor =
      quotient == nullptr ? std::nullopt : NumberOf(quotient->other);
  if (!divisor || *divisor == 0) return std::nullopt;
  return 1 / *divisor;
}

at::Tensor SavedDivisor(Node& node) {
  const auto* quotient = As<nodes::DivBackward0>(node, "DivBackward0");
  if (quotient == nullptr) return {};
  return Unpacked([&] { return quotient->other_.unpack(); });
}

bool TakesLast(const Node& node, int64_t axis) {
  if (const auto* select = As<nodes::SelectBackward0>(node, "SelectBackward0")) {
    return IsLast(select->dim, select->index, select->self_sym_sizes, axis);
  }
  const auto* slice = As<nodes::SliceBackward0>(node, "SliceBackward0");
  return slice != nullptr && slice->start &&
         IsLast(slice->dim, *slice->start, slice->self_sym_sizes, axis);
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
