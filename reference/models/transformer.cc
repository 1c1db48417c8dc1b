#include "reference/models/transformer.h"

#include "reference/models/models.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;

constexpr int64_t kWidth = 128;
constexpr int64_t kDepth = 4;
constexpr int64_t kHeads = 4;
constexpr double kEpsilon = 1e-5;  // of both norms

// x / sqrt(mean(x^2) + epsilon) * weight over the last axis. Source: Zhang and Sennrich 2019.
class RmsNorm : public nn::Module {
 public:
  explicit RmsNorm(int64_t width) : weight_(register_parameter("weight", torch::ones({width}))) {}
  torch::Tensor forward(const torch::Tensor& x) {
    return torch::rms_norm(x, weight_.sizes(), weight_, kEpsilon);
  }

 private:
  torch::Tensor weight_;
};

nn::AnyModule MakeNorm(const std::string& kind, int64_t width) {
  if (kind == "rmsnorm") return nn::AnyModule(std::make_shared<RmsNorm>(width));
  return nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({width}).eps(kEpsilon)));
}

nn::Linear MakeLinear(int64_t from, int64_t to) {
  return nn::Linear(nn::LinearOptions(from, to).bias(false));
}

}  // namespace

// gelu:   projection(gelu(expansion(x))), four times as wide inside.
// swiglu: projection(silu(gate(x)) * expansion(x)), 8/3 as wide inside, a multiple of 8, so that
//         both have about as many weights. Source: Shazeer 2020.
class FeedForward : public nn::Module {
 public:
  FeedForward(int64_t width, bool gated) {
    const int64_t inner = gated ? (width * 8 / 3 + 7) / 8 * 8 : 4 * width;
    if (gated) gate_ = register_module("gate", MakeLinear(width, inner));
    expansion_ = register_module("expansion", MakeLinear(width, inner));
    projection_ = register_module("projection", MakeLinear(inner, width));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor expanded = expansion_->forward(x);
    return projection_->forward(gate_ ? torch::silu(gate_->forward(x)) * expanded
                                      : torch::gelu(expanded));
  }

 private:
  nn::Linear gate_{nullptr}, expansion_{nullptr}, projection_{nullptr};
};

namespace {

void NeedOneOf(const char* what, const std::string& value, const char* one, const char* other) {
  if (value == one || value == other) return;
  throw UsageError(std::string(what) + " is '" + value + "'; expected: " + one + " or " + other);
}

void NeedSense(const ModelOptions& options, int64_t width, int64_t heads) {
  NeedOneOf("norm", options.norm, "layernorm", "rmsnorm");
  NeedOneOf("activation", options.activation, "gelu", "swiglu");
  NeedOneOf("position-embedding", options.position_embedding, "rotary", "learned");
  if (options.context < 1 || options.vocabulary < 1) {
    throw UsageError("model gpt needs a token stream: a context and a vocabulary");
  }
  if (width % heads != 0) {
    throw UsageError("width " + std::to_string(width) + " cannot be divided among " +
                     std::to_string(heads) + " heads");
  }
  if (options.position_embedding == "rotary" && width / heads % 2 != 0) {
    throw UsageError("rotary positions need an even width of each head, not " +
                     std::to_string(width / heads));
  }
}

}  // namespace

// x + attention(norm(x)), then the same with the feed-forward layers.
class BlockImpl : public nn::Module {
 public:
  BlockImpl(const ModelOptions& options, int64_t width, int64_t heads)
      : attention_norm_(MakeNorm(options.norm, width)), mlp_norm_(MakeNorm(options.norm, width)) {
    register_module("attention_norm", attention_norm_.ptr());
    attention_ = register_module(
        "attention", Attention(width, heads, options.dropout, options.attention_deviation));
    register_module("mlp_norm", mlp_norm_.ptr());
    mlp_ = register_module("mlp",
                           std::make_shared<FeedForward>(width, options.activation == "swiglu"));
    dropout_ = register_module("dropout", nn::Dropout(options.dropout));
  }

  torch::Tensor forward(torch::Tensor x, const std::optional<Rotation>& rotation) {
    x = x + dropout_->forward(attention_->forward(attention_norm_.forward(x), rotation));
    return x + dropout_->forward(mlp_->forward(mlp_norm_.forward(x)));
  }

 private:
  nn::AnyModule attention_norm_, mlp_norm_;
  Attention attention_{nullptr};
  std::shared_ptr<FeedForward> mlp_;
  nn::Dropout dropout_{nullptr};
};

TransformerImpl::TransformerImpl(const ModelOptions& options)
    : width_(options.width > 0 ? options.width : kWidth),
      heads_(options.heads > 0 ? options.heads : kHeads),
      context_(options.context),
      checkpoint_blocks_(options.checkpoint_blocks),
      attention_deviation_(options.attention_deviation),
      checkpoint_deviation_(options.checkpoint_deviation) {
  NeedSense(options, width_, heads_);
  embedding_ = register_module("embedding", nn::Embedding(options.vocabulary, width_));
  if (options.position_embedding == "learned") {
    positions_ = register_module("positions", nn::Embedding(context_, width_));
  }
  dropout_ = register_module("dropout", nn::Dropout(options.dropout));
  nn::ModuleList blocks;
  const int64_t depth = options.depth > 0 ? options.depth : kDepth;
  for (int64_t block = 0; block < depth; ++block) {
    blocks_.push_back(std::make_shared<BlockImpl>(options, width_, heads_));
    blocks->push_back(blocks_.back());
  }
  register_module("blocks", blocks);
  norm_ = MakeNorm(options.norm, width_);
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
    rotation = RotationOf(count, width_ / heads_, attention_deviation_, tokens.device());
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
