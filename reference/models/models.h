// The two models that the trainer has of its own. Both are a trunk that gives features and a linear
// head that gives logits, so that a fault can be planted between them.
//
// Letters: B batch, F features, C classes.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "dlcheck/plugin.h"

namespace dlcheck::reference {

// What the loop trains, built in or hosted.
struct Model {
  std::shared_ptr<torch::nn::Module> module;
  std::function<torch::Tensor(torch::Tensor)> forward;  // (B, sample shape) to logits (B, C)
};

using FeatureFunction = std::function<torch::Tensor(torch::Tensor)>;  // (B, F) to (B, F)

// Modules are named `trunk` and `head`. `name` is mlp or cnn; `between` is applied to the features
// on their way to the head. Errors: UsageError if a cnn is asked for samples that are no images
// (channels, height, width) of 4 by 4 pixels or more.
Model MakeModel(const std::string& name, const InputShape& sample_shape, int64_t classes,
                double dropout, FeatureFunction between);

}  // namespace dlcheck::reference
