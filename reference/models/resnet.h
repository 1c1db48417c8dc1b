// The trunk of a small residual network for images (He et al. 2016, basic blocks): a stem, two
// stages of which the second halves the image and doubles the channels, and a mean over what is
// left of the image.
//
// Letters: B batch, C channels, H height, W width of an image, F features.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>

namespace dlcheck::reference {

struct ModelOptions;

class ResnetImpl : public torch::nn::Module {
 public:
  // Of the options: sample_shape (C, H, W), width (channels of the stem), depth (blocks a stage),
  // dropout (before the head), batch_norm, shortcut_deviation. Errors: UsageError if samples are no
  // images of 4 by 4 pixels or more.
  explicit ResnetImpl(const ModelOptions& options);

  // (B, C, H, W) to (B, F).
  torch::Tensor forward(torch::Tensor x);

  int64_t features() const { return features_; }

 private:
  int64_t features_;
  torch::nn::Conv2d stem_{nullptr};
  torch::nn::BatchNorm2d stem_norm_{nullptr};
  torch::nn::Sequential blocks_;
  torch::nn::Dropout dropout_{nullptr};
  std::function<torch::Tensor(torch::nn::BatchNorm2dImpl& norm, const torch::Tensor& x)> norm_;
};
TORCH_MODULE(Resnet);

// Ghost batch norm: in training each `size` samples of x (B, C, H, W) are normalized by themselves,
// as are the samples that are left; the running statistics take in one part after the other. In
// evaluation it is the batch norm itself. Source: Hoffer, Hubara and Soudry 2017.
torch::Tensor GhostNorm(torch::nn::BatchNorm2dImpl& norm, const torch::Tensor& x, int64_t size);

}  // namespace dlcheck::reference
