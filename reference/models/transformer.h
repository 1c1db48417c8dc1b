// The trunk of a language model: a stack of transformer blocks in the variants that are in use:
// layer or RMS norm, GELU or SwiGLU, rotary or learned positions.
//
// Letters: B batch, T tokens, W width.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

#include "reference/models/attention.h"
#include "reference/models/transformer_block.h"
#include "reference/precision/activation_checkpoint.h"

namespace dlcheck::reference {

class TransformerImpl : public torch::nn::Module {
 public:
  // Of the options: width, depth, heads, dropout and those of gpt. Errors: UsageError for a variant
  // that is not known, no context or vocabulary, heads that do not divide the width, and an odd
  // width of a head with rotary positions.
  explicit TransformerImpl(const ModelOptions& options);

  // (B, T), int64, to (B, T, W). Errors: UsageError if T is more than the context.
  torch::Tensor forward(const torch::Tensor& tokens);

  int64_t features() const { return sizes_.width; }
  torch::Tensor embedding() const { return embedding_->weight; }  // (vocabulary, W)

 private:
  BlockSizes sizes_;
  int64_t context_;
  bool checkpoint_blocks_;
  AttentionDeviation attention_deviation_;
  CheckpointDeviation checkpoint_deviation_;
  torch::nn::Embedding embedding_{nullptr}, positions_{nullptr};  // none if rotary
  torch::nn::Dropout dropout_{nullptr};
  Blocks blocks_;
  torch::nn::AnyModule norm_;
};
TORCH_MODULE(Transformer);

}  // namespace dlcheck::reference
