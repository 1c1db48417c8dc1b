// Rules without a fused kernel, each for one parameter in plain tensor operations: the same ones in
// the same order as torch.optim without foreach, where it has the rule.
#pragma once

#include <ATen/ScalarOps.h>

#include "reference/optimization/optimizers.h"

namespace dlcheck::reference {

// A parameter that is updated. `gradient` is already unscaled, and turned round if it is climbed.
struct ParameterUpdate {
  const torch::Tensor& weight;
  const torch::Tensor& gradient;
  const ParameterState& state;
  double lr;
  double weight_decay;
  double k;  // this update's number, from 1; 0 where the rule does not count
};

// A number as an operand, as Python hands it over: mul_(Scalar) of C++ rounds it to bf16 first,
// where the tensor is bf16.
inline torch::Tensor Number(double number) { return at::native::wrapped_scalar_tensor(number); }

inline bool IsCoreLeftOut(const Optimizer::Options& options) {
  return options.deviation == OptimizerDeviation::kCoreLeftOut;
}

using RuleFunction = void (*)(const Optimizer::Options&, const ParameterUpdate&);

// Null for SGD, Adam and AdamW.
RuleFunction FunctionOf(Optimizer::Rule rule);

// v = a v + (1 - a) g^2, and centered the variance v - mean(g)^2 in its place;  p -= lr g /
// (sqrt(v)
// + epsilon), or momentum of that quotient. Decay is added to g. Source: Hinton 2012; Graves 2013.
void UpdateRmsprop(const Optimizer::Options& options, const ParameterUpdate& update);

// v = v + g^2;  p -= lr / (1 + (k - 1) lr_decay) g / (sqrt(v) + epsilon). Decay is added to g.
// Source: Duchi, Hazan and Singer 2011.
void UpdateAdagrad(const Optimizer::Options& options, const ParameterUpdate& update);

// Adam with Nesterov's look ahead; its momentum grows to beta1. Source: Dozat 2016.
void UpdateNadam(const Optimizer::Options& options, const ParameterUpdate& update);

// p *= 1 - lr decay;  p -= lr sign(b1 m + (1 - b1) g);  m = b2 m + (1 - b2) g.
// Source: Chen et al. 2023.
void UpdateLion(const Optimizer::Options& options, const ParameterUpdate& update);

// Adam's direction plus decay p, in the length lr |p|; lr where one of both norms is 0.
// Source: You et al. 2020.
void UpdateLamb(const Optimizer::Options& options, const ParameterUpdate& update);

// Squares are kept by row and by column for whatever has two dimensions or more; the rate is a
// share of the weight's root mean square, and the change of all entries is at most that.
// Source: Shazeer and Stern 2018.
void UpdateAdafactor(const Optimizer::Options& options, const ParameterUpdate& update);

// p *= 1 - lr decay;  p -= lr r O, where O is the momentum with all singular values near 1, and r
// is sqrt(max(1, rows / columns)), or 0.2 sqrt(max(rows, columns)) to match the rates of AdamW.
// Source: Jordan et al. 2024; Liu et al. 2025.
// REQUIRES: a matrix.
void UpdateMuon(const Optimizer::Options& options, const ParameterUpdate& update);

// The weight is where gradients are taken: (1 - b1) z + b1 x. z goes down as AdamW without
// momentum, x is the average of all z, weighted with the squared rates. Source: Defazio et al.
// 2024.
void UpdateScheduleFree(const Optimizer::Options& options, const ParameterUpdate& update);

}  // namespace dlcheck::reference
