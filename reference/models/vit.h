// The trunk of a vision transformer: patches of an image as tokens, blocks in which each sees all,
// and the mean over them. Source: Dosovitskiy et al. 2021.
//
// Letters: B batch, C channels, H by W pixels, T patches, F features.
#pragma once

#include <torch/torch.h>

#include <cstdint>

#include "reference/models/transformer_block.h"

namespace dlcheck::reference {

class VitImpl : public torch::nn::Module {
 public:
  // Of the options: patch, width, depth, heads, kv_heads, dropout, norm, activation and
  // stochastic_depth. Positions are learned.
  //
  // Errors: UsageError for samples that are no images or that patches do not cover evenly, and
  //         those of MakeBlocks.
  explicit VitImpl(const ModelOptions& options);

  // (B, C, H, W) to (B, F).
  torch::Tensor forward(torch::Tensor x);

  int64_t features() const { return sizes_.width; }

 private:
  BlockSizes sizes_;
  torch::nn::Conv2d patches_{nullptr};
  torch::nn::Embedding positions_{nullptr};
  torch::nn::Dropout dropout_{nullptr};
  Blocks blocks_;
  torch::nn::AnyModule norm_;
};
TORCH_MODULE(Vit);

}  // namespace dlcheck::reference
