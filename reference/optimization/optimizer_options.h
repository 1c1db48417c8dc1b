// The rule of an optimizer and its settings.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace dlcheck::reference {

// Ways of being wrong on purpose.
enum class OptimizerDeviation : uint8_t {
  kNone,
  kEpsilonInsideRoot,  // sqrt(v / (1 - b2^k) + epsilon)
  kNoBiasCorrection,
  kStepsAhead,  // k from 2
  kSwappedBetas,
  kCoupledDecay,  // AdamW decays through the gradient, as Adam does
  kNesterovIgnored,
  kRateInMomentum,     // m = momentum m + lr g;  p -= m
  kMasterFromWeights,  // the master copies are made anew from the weights at each step
  kCoreLeftOut,        // of rules.h: what makes the rule one of its own
};

enum class OptimizerRule : uint8_t {
  kSgd,
  kAdam,
  kAdamW,
  kRmsprop,
  kAdagrad,
  kNadam,
  kAdafactor,
  kMuon,
  kLion,
  kLamb,
  kScheduleFree,
};

struct OptimizerOptions {
  OptimizerRule rule = OptimizerRule::kSgd;
  double momentum = 0;  // of SGD, RMSprop and Muon
  bool nesterov = false;
  double beta1 = 0.9;  // of what has two averages
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double alpha = 0.99;           // of RMSprop: what the average of squares keeps
  bool centered = false;         // of RMSprop
  double lr_decay = 0;           // of Adagrad
  double momentum_decay = 4e-3;  // of NAdam
  bool matches_adamw = false;    // of Muon: rates as AdamW has them
  bool amsgrad = false;          // the largest v so far in v's place
  bool maximize = false;         // steps up the gradient
  bool master_weights = false;   // bf16 and fp16 weights are updated through copies in fp32
  OptimizerDeviation deviation = OptimizerDeviation::kNone;
};

// By the names of recipes; nothing for an unknown name.
std::optional<OptimizerRule> RuleFromName(std::string_view name);
std::string_view NameOf(OptimizerRule rule);

}  // namespace dlcheck::reference
