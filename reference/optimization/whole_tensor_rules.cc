#include <algorithm>
#include <cmath>
#include <limits>

#include "reference/optimization/rules.h"

namespace dlcheck::reference {
namespace {

using torch::Tensor;

double LengthOf(const Tensor& tensor) { return at::linalg_vector_norm(tensor, 2).item<double>(); }

double RootOfCount(const Tensor& tensor) { return std::sqrt(static_cast<double>(tensor.numel())); }

// What numbers of the type differ by at 1.
double Resolution(at::ScalarType type) {
  switch (type) {
    case at::kDouble:
      return std::numeric_limits<double>::epsilon();
    case at::kBFloat16:
      return std::ldexp(1.0, -7);
    case at::kHalf:
      return std::ldexp(1.0, -10);
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

// The mean of the squares along a dimension, which stays with size 1.
Tensor MeanSquares(const Tensor& gradient, int64_t dimension) {
  return at::linalg_vector_norm(gradient, 2, at::IntArrayRef(dimension), /*keepdim=*/true)
      .square_()
      .div_(gradient.size(dimension));
}

// Newton and Schulz's iteration in bf16: the singular values of the result are near 1.
Tensor Orthogonalized(const Tensor& matrix) {
  constexpr double kLinear = 3.4445, kCubic = -4.7750, kQuintic = 2.0315;
  constexpr int kIterations = 5;
  constexpr double kSmallestNorm = 1e-7;
  const bool is_tall = matrix.size(0) > matrix.size(1);
  Tensor result = matrix.to(at::kBFloat16, /*non_blocking=*/false, /*copy=*/true);
  if (is_tall) result = result.t();
  result.div_(at::linalg_vector_norm(result, 2).clamp(kSmallestNorm));
  for (int i = 0; i < kIterations; ++i) {
    const Tensor gram = result.mm(result.t());
    result = at::addmm(result, at::addmm(gram, gram, gram, kCubic, kQuintic), result, kLinear);
  }
  return is_tall ? result.t() : result;
}

}  // namespace

void UpdateLamb(const Optimizer::Options& options, const ParameterUpdate& update) {
  const ParameterState& state = update.state;
  state.first.lerp_(update.gradient, 1 - options.beta1);
  state.second.mul_(Number(options.beta2))
      .addcmul_(update.gradient, update.gradient, 1 - options.beta2);
  const Tensor root = state.second.div(1 - std::pow(options.beta2, update.k)).sqrt_();
  Tensor change = state.first.div(1 - std::pow(options.beta1, update.k));
  change.div_(root.add_(options.epsilon));
  if (update.weight_decay != 0) change.add_(update.weight, update.weight_decay);
  const double weight_norm = LengthOf(update.weight), change_norm = LengthOf(change);
  const bool is_scaled = weight_norm > 0 && change_norm > 0 && !IsCoreLeftOut(options);
  update.weight.add_(change, is_scaled ? -update.lr * (weight_norm / change_norm) : -update.lr);
}

void UpdateAdafactor(const Optimizer::Options& options, const ParameterUpdate& update) {
  constexpr double kDecayOfAverages = -0.8, kSmallestScale = 1e-3, kLargestChange = 1;
  const ParameterState& state = update.state;
  const Tensor &weight = update.weight, &gradient = update.gradient;
  const double smallest = Resolution(weight.scalar_type());
  const double share = std::pow(update.k, kDecayOfAverages);
  const double relative = std::min(update.lr, 1 / std::sqrt(update.k));
  const double scale = std::max(kSmallestScale, LengthOf(weight) / RootOfCount(weight));
  const double lr = IsCoreLeftOut(options) ? relative : scale * relative;
  if (update.weight_decay != 0) weight.mul_(Number(1 - update.lr * update.weight_decay));
  Tensor squares;
  if (gradient.dim() > 1) {
    state.rows.lerp_(MeanSquares(gradient, -1), share);
    state.columns.lerp_(MeanSquares(gradient, -2), share);
    squares = at::matmul(state.rows, state.columns);
    squares.div_(state.rows.mean(-2, /*keepdim=*/true).clamp_(smallest));
  } else {
    state.second.lerp_(gradient * gradient, share);
    squares = state.second.clone();
  }
  const Tensor change = squares.clamp_(smallest * smallest).rsqrt_().mul_(gradient);
  const double excess = std::max(1.0, LengthOf(change) / (RootOfCount(change) * kLargestChange));
  weight.add_(change, -lr / excess);
}

void UpdateMuon(const Optimizer::Options& options, const ParameterUpdate& update) {
  const Tensor& momentum = update.state.momentum;
  momentum.lerp_(update.gradient, 1 - options.momentum);
  Tensor change = options.nesterov ? update.gradient.lerp(momentum, options.momentum) : momentum;
  if (!IsCoreLeftOut(options)) change = Orthogonalized(change);
  const auto rows = static_cast<double>(update.weight.size(0));
  const auto columns = static_cast<double>(update.weight.size(1));
  const double ratio = options.matches_adamw ? 0.2 * std::sqrt(std::max(rows, columns))
                                             : std::sqrt(std::max(1.0, rows / columns));
  update.weight.mul_(Number(1 - update.lr * update.weight_decay));
  update.weight.add_(change, -(update.lr * ratio));
}

}  // namespace dlcheck::reference
