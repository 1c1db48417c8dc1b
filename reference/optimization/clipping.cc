#include "reference/optimization/clipping.h"

#include <numeric>

namespace dlcheck::reference {
namespace {

using torch::Tensor;

constexpr double kNormEpsilon = 1e-6;

Tensor Factor(const Tensor& norm, double bound, ClipDeviation deviation) {
  const double epsilon = deviation == ClipDeviation::kNoEpsilon ? 0 : kNormEpsilon;
  // A number divided by a tensor is this product in Python; a true quotient differs in its last
  // bit.
  const Tensor factor = (norm + epsilon).reciprocal() * bound;
  return deviation == ClipDeviation::kAlwaysRescales ? factor : factor.clamp_max(1.0);
}

// 2-norm of each slice along the first dimension, kept as dimensions of length 1.
Tensor UnitNorms(const Tensor& tensor) {
  if (tensor.dim() <= 1) return at::linalg_vector_norm(tensor, 2);
  std::vector<int64_t> rest(static_cast<size_t>(tensor.dim() - 1));
  std::iota(rest.begin(), rest.end(), 1);
  return at::linalg_vector_norm(tensor, 2, rest, /*keepdim=*/true);
}

}  // namespace

Tensor ClipByNorm(const std::vector<Tensor>& gradients, double bound, double p,
                  ClipDeviation deviation, const std::function<double(double norm)>& combined) {
  const torch::NoGradGuard no_grad;
  if (gradients.empty()) return torch::full({}, combined ? combined(0) : 0, torch::kFloat);
  const std::vector<Tensor> norms = at::_foreach_norm(gradients, p);
  Tensor total = at::linalg_vector_norm(torch::stack(norms), p);
  if (combined) total = torch::full({}, combined(total.item<double>()), total.options());
  if (deviation == ClipDeviation::kPerTensorNorm) {
    for (size_t i = 0; i < gradients.size(); ++i) {
      gradients[i].mul_(Factor(norms[i], bound, deviation));
    }
  } else {
    at::_foreach_mul_(gradients, Factor(total, bound, deviation));
  }
  return total;
}

void ClipByValue(const std::vector<Tensor>& gradients, double bound) {
  const torch::NoGradGuard no_grad;
  at::_foreach_clamp_min_(gradients, -bound);
  at::_foreach_clamp_max_(gradients, bound);
}

void ClipAdaptive(const std::vector<Tensor>& weights, const std::vector<Tensor>& gradients,
                  double clip, double floor, ClipDeviation deviation) {
  const torch::NoGradGuard no_grad;
  const double least = deviation == ClipDeviation::kNoFloor ? 0 : floor;
  for (size_t i = 0; i < gradients.size(); ++i) {
    const Tensor allowed = UnitNorms(weights[i]).clamp_min(least) * clip;
    gradients[i].mul_((allowed / UnitNorms(gradients[i])).clamp_max(1.0));
  }
}

}  // namespace dlcheck::reference
