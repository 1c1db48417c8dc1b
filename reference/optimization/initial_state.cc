#include "reference/optimization/rules.h"
#include "reference/optimization/update_rules.h"

namespace dlcheck::reference {
namespace {

torch::Tensor WithSizeOne(const torch::Tensor& updated, int64_t dimension) {
  std::vector<int64_t> sizes = updated.sizes().vec();
  sizes[static_cast<size_t>(updated.dim() + dimension)] = 1;
  return torch::zeros(sizes, updated.options());
}

}  // namespace

// In Python, SGD's first momentum is the gradient itself; it is here too, for a momentum that
// starts at -0, the only number that no sum notices: +0 would lose the sign of a gradient of -0.
ParameterState InitialState(const Optimizer::Options& options, OptimizerRule rule,
                            const torch::Tensor& updated) {
  ParameterState state;
  const auto zeros = [&] { return torch::zeros_like(updated); };
  const torch::TensorOptions number = updated.options().dtype(at::kFloat);
  switch (rule) {
    case OptimizerRule::kSgd:
      if (options.momentum > 0) state.momentum = torch::full_like(updated, -0.0);
      return state;
    case OptimizerRule::kMuon:
    case OptimizerRule::kLion:
      state.momentum = zeros();
      return state;
    case OptimizerRule::kRmsprop:
      state.second = zeros();
      if (options.momentum > 0) state.momentum = zeros();
      if (options.centered) state.first = zeros();
      return state;
    case OptimizerRule::kAdagrad:
      state.second = zeros();
      break;
    case OptimizerRule::kAdafactor:
      if (updated.dim() < 2) state.second = zeros();
      if (updated.dim() >= 2) state.rows = WithSizeOne(updated, -1);
      if (updated.dim() >= 2) state.columns = WithSizeOne(updated, -2);
      break;
    case OptimizerRule::kScheduleFree:
      state.second = zeros();
      state.base = updated.clone();
      state.average = updated.clone();
      state.product = torch::zeros({}, number.dtype(at::kDouble));
      break;
    case OptimizerRule::kNadam:
      state.product = torch::ones({}, number);
      [[fallthrough]];
    case OptimizerRule::kAdam:
    case OptimizerRule::kAdamW:
    case OptimizerRule::kLamb:
      state.first = zeros();
      state.second = zeros();
      if (options.amsgrad) state.largest = zeros();
      break;
  }
  state.steps = torch::zeros({}, number);
  return state;
}

RuleFunction FunctionOf(OptimizerRule rule) {
  switch (rule) {
    case OptimizerRule::kRmsprop:
      return UpdateRmsprop;
    case OptimizerRule::kAdagrad:
      return UpdateAdagrad;
    case OptimizerRule::kNadam:
      return UpdateNadam;
    case OptimizerRule::kAdafactor:
      return UpdateAdafactor;
    case OptimizerRule::kMuon:
      return UpdateMuon;
    case OptimizerRule::kLion:
      return UpdateLion;
    case OptimizerRule::kLamb:
      return UpdateLamb;
    case OptimizerRule::kScheduleFree:
      return UpdateScheduleFree;
    default:
      return nullptr;
  }
}

}  // namespace dlcheck::reference
