#include "checks/observe/preload/losses/padding.h"

namespace dlcheck {
namespace {

constexpr int64_t kFewestLengthsOfRows = 3;

// True from where on all entries of a row are.
at::Tensor TrueAtEnd(const at::Tensor& is_equal) {
  return is_equal.to(at::kLong).flip(1).cumprod(1).flip(1).to(at::kBool);
}

at::Tensor IfSeveralLengths(const at::Tensor& padding, const at::Tensor& filled) {
  const at::Tensor lengths = std::get<0>(at::_unique2(padding.sum(1)));
  if (!padding.equal(filled) || lengths.numel() < kFewestLengthsOfRows) return {};
  return lengths.max().item<int64_t>() < padding.size(1) ? padding : at::Tensor();
}

}  // namespace

at::Tensor PaddingOf(const at::Tensor& tokens) {
  if (tokens.size(0) < kFewestLengthsOfRows || tokens.size(1) == 0) return {};
  const at::Tensor last = tokens.narrow(1, tokens.size(1) - 1, 1);
  const at::Tensor filler = last[TrueAtEnd(tokens.eq(last)).sum(1).argmax()];
  const at::Tensor filled = tokens.eq(filler);
  return IfSeveralLengths(TrueAtEnd(filled), filled);
}

at::Tensor ZeroPaddingOf(const at::Tensor& numbers) {
  if (numbers.size(0) < kFewestLengthsOfRows || numbers.size(1) == 0) return {};
  const at::Tensor filled = numbers.eq(0).all(-1);
  return IfSeveralLengths(TrueAtEnd(filled), filled);
}

}  // namespace dlcheck
