#include "reference/models/unet.h"

#include "reference/models/models.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

namespace nn = torch::nn;

constexpr int64_t kWidth = 32, kDepth = 2;
constexpr int64_t kGroups = 8;  // of a group norm

nn::Conv2d Convolution(int64_t from, int64_t to, int64_t stride = 1) {
  return nn::Conv2d(nn::Conv2dOptions(from, to, 3).stride(stride).padding(1));
}

// Two convolutions, each with a group norm and SiLU.
nn::Sequential Level(int64_t from, int64_t to) {
  return nn::Sequential(Convolution(from, to), nn::GroupNorm(kGroups, to), nn::SiLU(),
                        Convolution(to, to), nn::GroupNorm(kGroups, to), nn::SiLU());
}

}  // namespace

UnetImpl::UnetImpl(const ModelOptions& options)
    : joins_(options.shortcut_deviation == ShortcutDeviation::kNone) {
  const int64_t width = options.width > 0 ? options.width : kWidth;
  const int64_t depth = options.depth > 0 ? options.depth : kDepth;
  const InputShape& shape = options.sample_shape;
  if (shape.size() != 3 || depth > 10 || shape[1] % (int64_t{1} << depth) != 0 ||
      shape[2] % (int64_t{1} << depth) != 0) {
    throw UsageError(
        "model unet needs samples of (channels, height, width) that can be halved depth times");
  }
  if (width % kGroups != 0) throw UsageError("width of unet is no multiple of 8");
  stem_ = register_module("stem", Convolution(shape[0] + 1, width));
  int64_t channels = width;
  for (int64_t level = 0; level < depth; ++level) {
    down_->push_back(Level(channels, channels));
    halve_->push_back(Convolution(channels, 2 * channels, 2));
    channels *= 2;
  }
  down_->push_back(Level(channels, channels));
  for (int64_t level = depth; level > 0; --level) {
    up_->push_back(Level(channels + channels / 2, channels / 2));
    channels /= 2;
  }
  register_module("down", down_);
  register_module("halve", halve_);
  register_module("up", up_);
  out_ = register_module("out", Convolution(channels, shape[0]));
}

torch::Tensor UnetImpl::forward(torch::Tensor x) {
  std::vector<torch::Tensor> levels;
  x = stem_->forward(x);
  for (size_t level = 0; level < halve_->size(); ++level) {
    levels.push_back(down_[level]->as<nn::SequentialImpl>()->forward(x));
    x = halve_[level]->as<nn::Conv2dImpl>()->forward(levels.back());
  }
  x = down_[down_->size() - 1]->as<nn::SequentialImpl>()->forward(x);
  for (size_t level = 0; level < up_->size(); ++level) {
    const torch::Tensor finer =
        torch::upsample_nearest2d(x, at::OptionalIntArrayRef(), std::vector<double>{2.0, 2.0});
    const torch::Tensor on_the_way = joins_ ? levels.back() : torch::zeros_like(levels.back());
    x = up_[level]->as<nn::SequentialImpl>()->forward(torch::cat({finer, on_the_way}, 1));
    levels.pop_back();
  }
  return out_->forward(x);
}

}  // namespace dlcheck::reference
