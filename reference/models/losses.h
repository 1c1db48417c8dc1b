// Losses as sums with the number to divide them by, so that a mean over several batches is one
// division of sums and never a mean of means; and the same losses as PyTorch's own means.
//
// Letters: B batch, T tokens of a sample, C classes or vocabulary.
#pragma once

#include <torch/torch.h>

#include <cstdint>

namespace dlcheck::reference {

// kSmoothingSwapped        the target keeps label_smoothing and all classes share the rest
// kIgnoredCounted          targets to be ignored are counted in the denominator
// kTokensInsteadOfSamples  the mean is over tokens although one over samples was asked for
// kFocusOnSure             focal loss weighs with p instead of 1 - p
// kUnsquaredZ              the z-loss is the logarithm itself, not its square
// kLikeItself              an output of NT-Xent is compared with itself, too
enum class LossDeviation : uint8_t {
  kNone,
  kSmoothingSwapped,
  kIgnoredCounted,
  kTokensInsteadOfSamples,
  kFocusOnSure,
  kUnsquaredZ,
  kLikeItself
};

struct LossOptions {
  // Cross-entropy takes logits and class numbers, or probabilities of the outputs' shape; focal
  // logits and class numbers. The others take targets of the outputs'
  // shape, or class numbers, which become one-hot; bce takes logits. NT-Xent takes outputs (2 B, D)
  // of two views, and the place of the other view of each: Chen et al. 2020.
  enum class Kind : uint8_t { kCrossEntropy, kBce, kMse, kHuber, kFocal, kNtXent };
  // What is averaged: every target alike, or first the targets of each sample.
  enum class Unit : uint8_t { kToken, kSample };

  Kind kind = Kind::kCrossEntropy;
  Unit unit = Unit::kToken;
  double huber_delta = 1;

  // Of NT-Xent: what cosines are divided by.
  double temperature = 0.5;

  // Focal: (1 - p)^focal_gamma -log(p), with the probability p of the target. Source: Lin et al.
  // 2017.
  double focal_gamma = 2;

  // Of cross-entropy and focal.
  int64_t ignore_index = -100;
  torch::Tensor class_weights = {};  // (C); undefined: all 1

  // Of cross-entropy alone.
  double label_smoothing = 0;  // this share of each target is spread over all classes
  double z_loss = 0;  // times log(sum(exp(logits)))^2, added. Source: Chowdhery et al. 2022.

  LossDeviation deviation = LossDeviation::kNone;
};

struct LossSum {
  torch::Tensor sum;  // 0-dim, with its graph
  double count;       // what the sum is to be divided by
};

// `outputs` (B, C) with targets (B), or (B, T, C) with (B, T); outputs of fewer than 32 bits are
// widened first. Count, by unit and kind:
//   token, by classes      targets that are not ignored, or the sum of their class weights
//   token, probabilities   rows of the outputs
//   token, another kind    elements of the outputs
//   sample                 samples with a count above 0; each adds its own mean to the sum
// Errors: UsageError for a choice of cross-entropy with another kind; c10::Error for shapes that do
// not agree.
LossSum SumOfLoss(const LossOptions& options, const torch::Tensor& outputs,
                  const torch::Tensor& targets);

// What is compared with class numbers: the outputs; of NT-Xent the cosines of all pairs over the
// temperature, (2 B, 2 B), where an output's own is minus infinity.
torch::Tensor ScoresOf(const LossOptions& options, const torch::Tensor& outputs);

// The sum alone. Reads nothing from the device, which a count needs.
torch::Tensor SummedLoss(const LossOptions& options, const torch::Tensor& outputs,
                         const torch::Tensor& targets);

// The count of SumOfLoss for these targets, without a forward pass. `classes` is C.
double CountOf(const LossOptions& options, const torch::Tensor& targets, int64_t classes);

// Sum over count. By token, without z-loss, it is PyTorch's own mean, bit for bit in value and
// gradient: F.cross_entropy, F.binary_cross_entropy_with_logits, F.mse_loss, F.huber_loss. Not a
// number if nothing is counted.
torch::Tensor MeanLoss(const LossOptions& options, const torch::Tensor& outputs,
                       const torch::Tensor& targets);

}  // namespace dlcheck::reference
