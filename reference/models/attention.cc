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

AttentionImpl::AttentionImpl(const AttentionOptions& options) : options_(options) {
  const int64_t width = options.width;
  const int64_t shared = 2 * options.kv_heads * (width / options.heads);
  qkv_ = register_module("qkv", nn::Linear(nn::LinearOptions(width, width + shared).bias(false)));
  projection_ =
      register_module("projection", nn::Linear(nn::LinearOptions(width, width).bias(false)));
}

torch::Tensor AttentionImpl::forward(const torch::Tensor& x,
                                     const std::optional<Rotation>& rotation) {
  const int64_t batch = x.size(0), tokens = x.size(1), width = x.size(2);
  const int64_t head_width = width / options_.heads, shared = options_.kv_heads * head_width;
  std::vector<torch::Tensor> parts = qkv_->forward(x).split_with_sizes({width, shared, shared}, -1);
  for (torch::Tensor& part : parts) {
    part = part.view({batch, tokens, -1, head_width}).transpose(1, 2);
  }
  if (rotation) {
    parts[0] = Rotated(parts[0], *rotation);
    parts[1] = Rotated(parts[1], *rotation);
  }
  if (options_.kv_heads < options_.heads) {
    const int64_t share = options_.heads / options_.kv_heads;
    parts[1] = parts[1].repeat_interleave(share, 1);
    parts[2] = parts[2].repeat_interleave(share, 1);
  }
  const AttentionDeviation deviation = options_.deviation;
  const bool deviates =
      deviation != AttentionDeviation::kNone && deviation != AttentionDeviation::kRotaryBase;
  std::optional<torch::Tensor> mask;
  if (deviates) mask = DeviatingMask(tokens, deviation, x.device());
  const torch::Tensor mixed = at::scaled_dot_product_attention(parts[0], parts[1], parts[2], mask,
                                                               is_training() ? options_.dropout : 0,
                                                               options_.is_causal && !deviates);
  return projection_->forward(mixed.transpose(1, 2).reshape({batch, tokens, width}));
}

}  // namespace dlcheck::reference
