#include "reference/models/vit.h"

#include "reference/models/models.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {

namespace nn = torch::nn;

VitImpl::VitImpl(const ModelOptions& options) : sizes_(SizesOf(options)) {
  const InputShape& shape = options.sample_shape;
  const int64_t patch = options.patch;
  if (shape.size() != 3 || shape[1] % patch != 0 || shape[2] % patch != 0) {
    throw UsageError(
        "model vit needs samples of (channels, height, width) with sides that are multiples of "
        "the " +
        std::to_string(patch) + " pixels of a patch");
  }
  patches_ = register_module(
      "patches", nn::Conv2d(nn::Conv2dOptions(shape[0], sizes_.width, patch).stride(patch)));
  const int64_t count = shape[1] / patch * (shape[2] / patch);
  positions_ = register_module("positions", nn::Embedding(count, sizes_.width));
  dropout_ = register_module("dropout", nn::Dropout(options.dropout));
  blocks_ = MakeBlocks(options, /*is_causal=*/false);
  register_module("blocks", ListOf(blocks_));
  norm_ = MakeNorm(options.norm, sizes_.width);
  register_module("norm", norm_.ptr());
}

torch::Tensor VitImpl::forward(torch::Tensor x) {
  x = patches_->forward(x).flatten(2).transpose(1, 2);
  x = dropout_->forward(x + positions_->weight);
  for (const std::shared_ptr<BlockImpl>& block : blocks_) x = block->forward(x, std::nullopt);
  return norm_.forward(x).mean(1);
}

}  // namespace dlcheck::reference
