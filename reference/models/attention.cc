#include "reference/models/attention.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;

constexpr double kRotaryBase = 10000;
constexpr double kDeviatingRotaryBase = 1000;

// What a deviation lets each position see, (T, T), true where it sees.
torch::Tensor DeviatingMask(int64_t tokens, AttentionDeviation deviation,
                            const torch::Device& device) {
  const torch::Tensor all =
      torch::ones({tokens, tokens}, torch::device(device).dtype(torch::kBool));
  if (deviation == AttentionDeviation::kNoMask) return all;
  if (deviation == AttentionDeviation::kSeesNextToken) return all.tril(1);
  torch::Tensor before = all.tril(-1);
  before[0][0] = true;
  return before;
}

}  // namespace

Rotation RotationOf(int64_t tokens, int64_t head_width, AttentionDeviation deviation,
                    const torch::Device& device) {
  const auto options = torch::device(device).dtype(torch::kFloat32);
  const double base =
      deviation == AttentionDeviation::kRotaryBase ? kDeviatingRotaryBase : kRotaryBase;
  const torch::Tensor pair = torch::arange(0, head_width, 2, options) / head_width;
  const torch::Tensor angle = torch::outer(torch::arange(tokens, options), torch::pow(base, -pair));
  return {angle.cos(), angle.sin()};
}

torch::Tensor Rotated(const torch::Tensor& x, const Rotation& rotation) {
  const std::vector<torch::Tensor> half = x.chunk(2, -1);
  return torch::cat({half[0] * rotation.cosine - half[1] * rotation.sine,
                     half[1] * rotation.cosine + half[0] * rotation.sine},
                    -1)
      .type_as(x);
}

AttentionImpl::AttentionImpl(int64_t width, int64_t heads, double dropout,
                             AttentionDeviation deviation)
    : heads_(heads), dropout_(dropout), deviation_(deviation) {
  qkv_ = register_module("qkv", nn::Linear(nn::LinearOptions(width, 3 * width).bias(false)));
  projection_ =
      register_module("projection", nn::Linear(nn::LinearOptions(width, width).bias(false)));
}

torch::Tensor AttentionImpl::forward(const torch::Tensor& x,
                                     const std::optional<Rotation>& rotation) {
  const int64_t batch = x.size(0), tokens = x.size(1), width = x.size(2);
  std::vector<torch::Tensor> parts = qkv_->forward(x).chunk(3, -1);
  for (torch::Tensor& part : parts) {
    part = part.view({batch, tokens, heads_, width / heads_}).transpose(1, 2);
  }
  if (rotation) {
    parts[0] = Rotated(parts[0], *rotation);
    parts[1] = Rotated(parts[1], *rotation);
  }
  const bool deviates =
      deviation_ != AttentionDeviation::kNone && deviation_ != AttentionDeviation::kRotaryBase;
  std::optional<torch::Tensor> mask;
  if (deviates) mask = DeviatingMask(tokens, deviation_, x.device());
  const torch::Tensor mixed = at::scaled_dot_product_attention(
      parts[0], parts[1], parts[2], mask, is_training() ? dropout_ : 0, /*is_causal=*/!deviates);
  return projection_->forward(mixed.transpose(1, 2).reshape({batch, tokens, width}));
}

}  // namespace dlcheck::reference
