// A block of a transformer, with the norm before each branch (Radford et al. 2019).
//
// Letters: B batch, T tokens, W width.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "reference/models/attention.h"

namespace dlcheck::reference {

struct ModelOptions;
class FeedForward;

// What the options say, or 128 wide with 4 blocks of 4 heads.
struct BlockSizes {
  int64_t width, depth, heads, kv_heads;
  int64_t head_width() const { return width / heads; }
};

// Errors: UsageError for heads that do not divide the width, and for heads of keys and values that
// do not divide the heads.
BlockSizes SizesOf(const ModelOptions& options);

struct BlockOptions {
  AttentionOptions attention;
  std::string norm = "layernorm";   // layernorm or rmsnorm
  std::string activation = "gelu";  // gelu (exact) or swiglu
  double stochastic_depth = 0;      // the probability that a sample passes by each branch
};

// A norm over the last axis of this size. REQUIRES: layernorm or rmsnorm.
torch::nn::AnyModule MakeNorm(const std::string& kind, int64_t width);

class BlockImpl : public torch::nn::Module {
 public:
  explicit BlockImpl(const BlockOptions& options);

  // (B, T, W) to (B, T, W): x + attention(norm(x)), then the same with the feed-forward layers.
  torch::Tensor forward(torch::Tensor x, const std::optional<Rotation>& rotation);

 private:
  torch::nn::AnyModule attention_norm_, mlp_norm_;
  Attention attention_{nullptr};
  std::shared_ptr<FeedForward> mlp_;
  torch::nn::Dropout dropout_{nullptr};
  double stochastic_depth_;
};

// Blocks one after the other. Errors: UsageError as SizesOf's, and for a norm or an activation that
// is not known.
using Blocks = std::vector<std::shared_ptr<BlockImpl>>;
Blocks MakeBlocks(const ModelOptions& options, bool is_causal);
torch::nn::ModuleList ListOf(const Blocks& blocks);

}  // namespace dlcheck::reference
