#include "reference/models/transformer_block.h"

#include "reference/models/models.h"
#include "reference/models/stochastic_depth.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;

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

void NeedOneOf(const char* what, const std::string& value, const char* one, const char* other) {
  if (value == one || value == other) return;
  throw UsageError(std::string(what) + " is '" + value + "'; expected: " + one + " or " + other);
}

nn::Linear MakeLinear(int64_t from, int64_t to) {
  return nn::Linear(nn::LinearOptions(from, to).bias(false));
}

}  // namespace

BlockSizes SizesOf(const ModelOptions& options) {
  const auto or_own = [](int64_t asked, int64_t own) { return asked > 0 ? asked : own; };
  BlockSizes sizes = {or_own(options.width, 128), or_own(options.depth, 4),
                      or_own(options.heads, 4), 0};
  sizes.kv_heads = or_own(options.kv_heads, sizes.heads);
  if (sizes.width % sizes.heads != 0) {
    throw UsageError("width " + std::to_string(sizes.width) + " cannot be divided among " +
                     std::to_string(sizes.heads) + " heads");
  }
  if (sizes.heads % sizes.kv_heads != 0) {
    throw UsageError(std::to_string(sizes.heads) + " heads cannot share " +
                     std::to_string(sizes.kv_heads) + " heads of keys and values evenly");
  }
  return sizes;
}

nn::AnyModule MakeNorm(const std::string& kind, int64_t width) {
  if (kind == "rmsnorm") return nn::AnyModule(std::make_shared<RmsNorm>(width));
  return nn::AnyModule(nn::LayerNorm(nn::LayerNormOptions({width}).eps(kEpsilon)));
}

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

BlockImpl::BlockImpl(const BlockOptions& options)
    : attention_norm_(MakeNorm(options.norm, options.attention.width)),
      mlp_norm_(MakeNorm(options.norm, options.attention.width)),
      stochastic_depth_(options.stochastic_depth) {
  register_module("attention_norm", attention_norm_.ptr());
  attention_ = register_module("attention", Attention(options.attention));
  register_module("mlp_norm", mlp_norm_.ptr());
  mlp_ = register_module("mlp", std::make_shared<FeedForward>(options.attention.width,
                                                              options.activation == "swiglu"));
  dropout_ = register_module("dropout", nn::Dropout(options.attention.dropout));
}

torch::Tensor BlockImpl::forward(torch::Tensor x, const std::optional<Rotation>& rotation) {
  const double passed_by = is_training() ? stochastic_depth_ : 0;
  x = x +
      Kept(dropout_->forward(attention_->forward(attention_norm_.forward(x), rotation)), passed_by);
  return x + Kept(dropout_->forward(mlp_->forward(mlp_norm_.forward(x))), passed_by);
}

Blocks MakeBlocks(const ModelOptions& options, bool is_causal) {
  NeedOneOf("norm", options.norm, "layernorm", "rmsnorm");
  NeedOneOf("activation", options.activation, "gelu", "swiglu");
  const BlockSizes sizes = SizesOf(options);
  Blocks blocks;
  for (int64_t block = 0; block < sizes.depth; ++block) {
    const double passed_by = StochasticDepthOf(options.stochastic_depth, block, sizes.depth);
    blocks.push_back(std::make_shared<BlockImpl>(
        BlockOptions{{sizes.width, sizes.heads, sizes.kv_heads, options.dropout, is_causal,
                      options.attention_deviation},
                     options.norm,
                     options.activation,
                     passed_by}));
  }
  return blocks;
}

nn::ModuleList ListOf(const Blocks& blocks) {
  nn::ModuleList list;
  for (const std::shared_ptr<BlockImpl>& block : blocks) list->push_back(block);
  return list;
}

}  // namespace dlcheck::reference
