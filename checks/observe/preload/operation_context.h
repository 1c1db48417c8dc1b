// What is kept of an operation from its begin to its end, of which the results are looked at.
#pragma once

#include <ATen/record_function.h>
#include <torch/torch.h>

#include <cstdint>
#include <string>

#include "checks/observe/preload/loss_functions.h"

namespace dlcheck {

// Of an operation whose result is looked at.
enum class Looked {
  kNorm,
  kLoss,
  kDifference,
  kToBeTaken,
  kReshaped,
  kProduct,
  kActivation,
  kFact
};
struct OperationContext : at::ObserverContext {
  explicit OperationContext(Looked at) : looked(at) {}
  Looked looked;
};

struct LossContext : OperationContext {
  LossContext() : OperationContext(Looked::kLoss) {}
  const LossFunction* function;
  at::Tensor outputs, targets;  // class numbers that are ignored are -100
  std::string reduction;
  int64_t ignored = -100;
  at::Tensor weights;  // of classes; undefined if there are none
};

}  // namespace dlcheck
