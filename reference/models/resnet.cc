#include "reference/models/resnet.h"

#include "reference/models/models.h"
#include "reference/models/stochastic_depth.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;

constexpr int64_t kChannels = 16;
constexpr int64_t kStages = 2;

// Convolutions without a bias: the batch norm that follows has one.
nn::Conv2d Convolution(int64_t from, int64_t to, int64_t side, int64_t stride) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, side).stride(stride).padding(side / 2).bias(false));
}

// relu(shortcut(x) + norm2(convolution2(relu(norm1(convolution1(x)))))); the shortcut is x itself
// where the shapes agree, else a convolution of one pixel with its norm.
class ResidualBlock : public nn::Module {
 public:
  ResidualBlock(int64_t from, int64_t to, int64_t stride, double stochastic_depth,
                const ModelOptions& options)
      : convolution1_(register_module("convolution1", Convolution(from, to, 3, stride))),
        norm1_(register_module("norm1", nn::BatchNorm2d(to))),
        convolution2_(register_module("convolution2", Convolution(to, to, 3, 1))),
        norm2_(register_module("norm2", nn::BatchNorm2d(to))),
        norm_(options.batch_norm),
        deviation_(options.shortcut_deviation),
        stochastic_depth_(stochastic_depth) {
    if (from == to && stride == 1) return;
    shortcut_ = register_module("shortcut", Convolution(from, to, 1, stride));
    shortcut_norm_ = register_module("shortcut_norm", nn::BatchNorm2d(to));
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const torch::Tensor inner = torch::relu(norm_(*norm1_, convolution1_->forward(x)));
    const torch::Tensor branch =
        Kept(norm_(*norm2_, convolution2_->forward(inner)), is_training() ? stochastic_depth_ : 0);
    if (shortcut_) {
      return torch::relu(norm_(*shortcut_norm_, shortcut_->forward(x)) + branch);
    }
    return torch::relu(deviation_ == ShortcutDeviation::kNoIdentity ? branch : x + branch);
  }

 private:
  nn::Conv2d convolution1_;
  nn::BatchNorm2d norm1_;
  nn::Conv2d convolution2_;
  nn::BatchNorm2d norm2_;
  nn::Conv2d shortcut_{nullptr};
  nn::BatchNorm2d shortcut_norm_{nullptr};
  BatchNormFunction norm_;
  ShortcutDeviation deviation_;
  double stochastic_depth_;
};

}  // namespace

ResnetImpl::ResnetImpl(const ModelOptions& options)
    : features_(options.width > 0 ? options.width : kChannels), norm_(options.batch_norm) {
  const InputShape& shape = options.sample_shape;
  if (shape.size() != 3 || shape[1] < 4 || shape[2] < 4) {
    throw UsageError(
        "model resnet needs samples of (channels, height, width) with 4x4 pixels or more");
  }
  stem_ = register_module("stem", Convolution(shape[0], features_, 3, 1));
  stem_norm_ = register_module("stem_norm", nn::BatchNorm2d(features_));
  const int64_t depth = options.depth > 0 ? options.depth : 1;
  for (int64_t stage = 0; stage < kStages; ++stage) {
    for (int64_t block = 0; block < depth; ++block) {
      const bool halves = stage > 0 && block == 0;
      const int64_t from = features_;
      if (halves) features_ *= 2;
      const double passed_by =
          StochasticDepthOf(options.stochastic_depth, stage * depth + block, kStages * depth);
      blocks_->push_back(ResidualBlock(from, features_, halves ? 2 : 1, passed_by, options));
    }
  }
  register_module("blocks", blocks_);
  dropout_ = register_module("dropout", nn::Dropout(options.dropout));
}

torch::Tensor ResnetImpl::forward(torch::Tensor x) {
  x = torch::relu(norm_(*stem_norm_, stem_->forward(x)));
  x = blocks_->forward(x);
  return dropout_->forward(torch::adaptive_avg_pool2d(x, {1, 1}).flatten(1));
}

torch::Tensor GhostNorm(torch::nn::BatchNorm2dImpl& norm, const torch::Tensor& x, int64_t size) {
  if (!norm.is_training() || x.size(0) <= size) return norm.forward(x);
  std::vector<torch::Tensor> parts = x.split(size);
  for (torch::Tensor& part : parts) part = norm.forward(part);
  return torch::cat(parts);
}

}  // namespace dlcheck::reference
