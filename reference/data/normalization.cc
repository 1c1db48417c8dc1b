#include "reference/data/normalization.h"

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

torch::ScalarType ScalarTypeOf(ElementType type) {
  switch (type) {
    case ElementType::kUint8:
      return torch::kUInt8;
    case ElementType::kUint16:
      return torch::kUInt16;
    case ElementType::kInt32:
      return torch::kInt32;
    case ElementType::kUint32:
      return torch::kUInt32;
    case ElementType::kInt64:
      return torch::kInt64;
    case ElementType::kUint64:
      return torch::kUInt64;
    case ElementType::kFloat32:
      return torch::kFloat32;
    case ElementType::kFloat64:
      return torch::kFloat64;
  }
  throw UsageError("an element type that this version does not know");
}

}  // namespace

torch::Tensor Doubles(const uint8_t* elements, ElementType type,
                      const std::vector<int64_t>& shape) {
  // from_blob takes no const; the copy is all that is done with it.
  return torch::from_blob(const_cast<uint8_t*>(elements), shape, ScalarTypeOf(type))
      .to(torch::kFloat64, /*non_blocking=*/false, /*copy=*/true);
}

torch::Tensor Normalized(torch::Tensor doubles, const Normalization& normalization) {
  return doubles.sub_(normalization.mean).div_(normalization.deviation).to(torch::kFloat32);
}

}  // namespace dlcheck::reference
