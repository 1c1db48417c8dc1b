// A U-Net that tells the noise of an image: convolutions at ever coarser levels and back, each
// level joined with what it was on the way down. Source: Ronneberger et al. 2015.
//
// Letters: B batch, C channels of the image, H by W pixels.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <vector>

namespace dlcheck::reference {

struct ModelOptions;

class UnetImpl : public torch::nn::Module {
 public:
  // Of the options: sample_shape, width (channels of the finest level, a multiple of 8), depth (how
  // many times the image is halved).
  //
  // Errors: UsageError for samples that are no images, or that cannot be halved so often.
  explicit UnetImpl(const ModelOptions& options);

  // (B, C + 1, H, W), the last channel of which is the level of the noise, to (B, C, H, W).
  torch::Tensor forward(torch::Tensor x);

 private:
  torch::nn::Conv2d stem_{nullptr}, out_{nullptr};
  torch::nn::ModuleList down_, halve_, up_;
  bool joins_ = true;  // levels
};
TORCH_MODULE(Unet);

}  // namespace dlcheck::reference
