// The models that the trainer has of its own. Each is a trunk that gives features and a linear head
// that gives outputs, so that a fault can be planted between them.
//
// Letters: B batch, T tokens of a sample, F features, C outputs (classes or vocabulary).
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "dlcheck/plugin.h"
#include "reference/models/attention.h"
#include "reference/precision/activation_checkpoint.h"

namespace dlcheck::reference {

// What the loop trains, built in or hosted.
struct Model {
  std::shared_ptr<torch::nn::Module> module;
  // (B, sample shape) to outputs (B, C); tokens (B, T), int64, to outputs (B, T, C); unet as its
  // own header says.
  std::function<torch::Tensor(torch::Tensor)> forward;
  torch::nn::Linear head{nullptr};  // the last layer; none of a hosted model and of unet
  // Names of parameters that are one tensor by design: the first is where it belongs.
  std::vector<std::pair<std::string, std::string>> tied = {};
};

using FeatureFunction = std::function<torch::Tensor(torch::Tensor)>;  // (..., F) to (..., F)

// kHeadIsAClone: what is said to be tied is a copy that goes its own way.
enum class TyingDeviation : uint8_t { kNone, kHeadIsAClone };

// kNoIdentity: a residual block that keeps the shape does not add what came in, and a U-Net joins
// zeros instead of what was on the way down.
enum class ShortcutDeviation : uint8_t { kNone, kNoIdentity };

// What a batch norm makes of (B, C, H, W), in the same shape.
using BatchNormFunction =
    std::function<torch::Tensor(torch::nn::BatchNorm2dImpl& norm, const torch::Tensor& x)>;

struct ModelOptions {
  std::string name = "mlp";  // one of kModels
  InputShape sample_shape = {};
  int64_t outputs = 0;  // C; of gpt the vocabulary counts

  // 0 is the model's own: mlp 64 wide with 2 hidden layers; resnet 16 channels with 1 residual
  // block a stage; gpt and vit 128 wide with 4 blocks of 4 heads; lstm 128 wide with 2 layers; unet
  // 32 channels, halved twice.
  int64_t width = 0;
  int64_t depth = 0;
  int64_t heads = 0;
  int64_t kv_heads = 0;  // of keys and values, of gpt and vit; 0: as many as heads

  double dropout = 0;
  std::string initialization = "";  // one of Initializations(); empty: gpt2 for gpt, else default

  int64_t patch = 2;                // of vit: the side of a patch, in pixels
  double stochastic_depth = 0;      // of resnet, gpt and vit: that of the last block
  bool zero_init_residual = false;  // of the same: branches begin as zeros

  // Of gpt; lstm has a vocabulary and may tie its embeddings, too.
  int64_t context = 0;                        // the largest T
  int64_t vocabulary = 0;                     // C
  std::string norm = "layernorm";             // layernorm or rmsnorm
  std::string activation = "gelu";            // gelu (exact) or swiglu
  std::string position_embedding = "rotary";  // rotary or learned
  bool tie_embeddings = true;                 // the head's weight is the embedding's
  bool checkpoint_blocks = false;             // activations within a block are worked out again

  // Of resnet.
  BatchNormFunction batch_norm = [](auto& norm, const auto& x) { return norm.forward(x); };

  FeatureFunction between = [](torch::Tensor features) { return features; };  // before the head

  AttentionDeviation attention_deviation = AttentionDeviation::kNone;
  TyingDeviation tying_deviation = TyingDeviation::kNone;
  ShortcutDeviation shortcut_deviation = ShortcutDeviation::kNone;
  CheckpointDeviation checkpoint_deviation = CheckpointDeviation::kNone;
};

// Modules are named `trunk` and `head`. Weights are drawn from the default generator, the trunk's
// first. Branches that begin as zeros: the last norm of a residual block, and the projections of a
// transformer's block. Errors: UsageError for a name that is not known, a resnet for samples that
// are no images (channels, height, width) of 4 by 4 pixels or more, a gpt without context or
// vocabulary, heads that do not divide the width, blocks to recompute in a model other than gpt.
Model MakeModel(const ModelOptions& options);

// Puts `bias` (C) where the head's is, so that the first outputs have the mean of the targets.
// Errors: UsageError if the model has no head with a bias.
void SetHeadBias(Model& model, const torch::Tensor& bias);

// The logarithm of the share of each class, (C), float32, from how often it occurs, (C). A class
// that never occurs counts as one occurrence, so that the result is finite.
torch::Tensor LogPrior(const torch::Tensor& counts);

}  // namespace dlcheck::reference
