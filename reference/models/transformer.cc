#include "reference/models/transformer.h"

#include "reference/models/models.h"
#include "reference/models/transformer_block.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;

void NeedSense(const ModelOptions& options, const BlockSizes& sizes) {
  const std::string& positions = options.position_embedding;
  if (positions != "rotary" && positions != "learned") {
    throw UsageError("position-embedding is '" + positions + "'; expected: rotary or learned");
  }
  if (options.context < 1 || options.vocabulary < 1) {
    throw UsageError("model gpt needs a token stream: a context and a vocabulary");
  }
  if (positions == "rotary" && sizes.head_width() % 2 != 0) {
    throw UsageError("rotary positions need an even width of each head, not " +
                     std::to_string(sizes.head_width()));
  }
}

}  // namespace

TransformerImpl::TransformerImpl(const ModelOptions& options)
    : sizes_(SizesOf(options)),
      context_(options.context),
      checkpoint_blocks_(options.checkpoint_blocks),
      attention_deviation_(options.attention_deviation),
      checkpoint_deviation_(options.checkpoint_deviation) {
  NeedSense(options, sizes_);
  embedding_ = register_module("embedding", nn::Embedding(options.vocabulary, sizes_.width));
  if (options.position_embedding == "learned") {
    positions_ = register_module("positions", nn::Embedding(context_, sizes_.width));
  }
  dropout_ = register_module("dropout", nn::Dropout(options.dropout));
  blocks_ = MakeBlocks(options, /*is_causal=*/true);
  register_module("blocks", ListOf(blocks_));
  norm_ = MakeNorm(options.norm, sizes_.width);
  register_module("norm", norm_.ptr());
}

torch::Tensor TransformerImpl::forward(const torch::Tensor& tokens) {
  const int64_t count = tokens.size(1);
  if (count > context_) {
    throw UsageError(std::to_string(count) + " tokens are more than the context of " +
                     std::to_string(context_));
  }
  torch::Tensor x = embedding_->forward(tokens);
  std::optional<Rotation> rotation;
  if (positions_) {
    x = x + positions_->weight.slice(0, 0, count);
  } else {
    rotation = RotationOf(count, sizes_.head_width(), attention_deviation_, tokens.device());
  }
  x = dropout_->forward(x);
  for (const std::shared_ptr<BlockImpl>& block : blocks_) {
    const auto forward = [block, rotation](const torch::Tensor& in) {
      return block->forward(in, rotation);
    };
    x = checkpoint_blocks_ ? Checkpointed(forward, x, checkpoint_deviation_) : forward(x);
  }
  return norm_.forward(x);
}

}  // namespace dlcheck::reference
