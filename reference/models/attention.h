// Self-attention with several heads, over ATen's scaled dot product, with rotary positions if
// asked.
//
// Letters: B batch, T tokens, W width, H heads, D = W / H features of a head, G heads of keys and
// values.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <optional>

namespace dlcheck::reference {

// kSeesNextToken  the mask is off by one: each position sees the token that it is to predict
// kHidesItself    the mask is off by one the other way: a position does not see itself
//                 (the first still does, as a softmax over nothing is no number)
// kNoMask         every position sees all
// kRotaryBase     the rotary angles are those of base 1,000
enum class AttentionDeviation : uint8_t {
  kNone,
  kSeesNextToken,
  kHidesItself,
  kNoMask,
  kRotaryBase
};

// The rotation of each position, (T, D / 2) each, float32.
struct Rotation {
  torch::Tensor cosine, sine;
};

// Angle of position t and pair i: t * base^(-2 i / D), base 10,000. Source: Su et al. 2021.
// Worked out in float32 whatever the weights are. Cost: T D / 2 powers.
Rotation RotationOf(int64_t tokens, int64_t head_width, AttentionDeviation deviation,
                    const torch::Device& device);

// Rotates pair i, which is features i and i + D / 2, of x (B, H, T, D); the type of x is kept.
torch::Tensor Rotated(const torch::Tensor& x, const Rotation& rotation);

struct AttentionOptions {
  int64_t width;
  int64_t heads;
  int64_t kv_heads;  // G; fewer than heads share them in turn. Source: Ainslie et al. 2023.
  double dropout = 0;
  bool is_causal = true;  // position t depends on positions 0 to t, else on all
  AttentionDeviation deviation = AttentionDeviation::kNone;  // of a causal one
};

class AttentionImpl : public torch::nn::Module {
 public:
  // REQUIRES: heads divides width, and kv_heads divides heads.
  explicit AttentionImpl(const AttentionOptions& options);

  // (B, T, W) to (B, T, W). Dropout on the attention weights.
  torch::Tensor forward(const torch::Tensor& x, const std::optional<Rotation>& rotation);

 private:
  AttentionOptions options_;
  torch::nn::Linear qkv_{nullptr}, projection_{nullptr};
};
TORCH_MODULE(Attention);

}  // namespace dlcheck::reference
