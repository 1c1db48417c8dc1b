#include "checks/observe/probe/probe_rule.h"

#include <cmath>
#include <utility>

namespace dlcheck {
namespace {

constexpr int64_t kFirstSteps = 8;
constexpr int64_t kOneIn = 8;
// Of the copies for one step, each in float64 and five of a weight; others wait for a later step.
constexpr int64_t kMostCopied = 1 << 21;
// Roundings of a kernel that works in the type of its weights: moments, quotient, product.
constexpr double kRoundings = 8;
// The square of a larger gradient comes near the end of float32, where Adam's second moment is
// infinite.
constexpr double kLargestGradient = 1e18;

at::Tensor Wide(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.detach().to(at::kDouble, /*non_blocking=*/false, /*copy=*/true)
                          : at::Tensor();
}

double EpsilonOf(at::ScalarType type) {
  switch (type) {
    case at::kBFloat16:
      return 0x1p-7;
    case at::kHalf:
      return 0x1p-10;
    case at::kDouble:
      return 0x1p-52;
    default:
      return 0x1p-23;
  }
}

}  // namespace

bool UpdateCheck::IsDue() const {
  if (rule_.name.empty() || !clock_->sampled()) return false;
  return clock_->step() < kFirstSteps || clock_->step() % kOneIn == 0;
}

at::Tensor UpdateCheck::StateOf(const char* field, const at::Tensor& parameter) const {
  return rule_.state ? rule_.state(field, parameter) : at::Tensor();
}

void UpdateCheck::Before(const std::vector<Parameter>& parameters) {
  copies_.clear();
  if (parameters.empty()) return;
  int64_t copied = 0;
  for (size_t i = 0; i < parameters.size(); ++i) {
    const Parameter& parameter = parameters[(next_ + i) % parameters.size()];
    const at::Tensor& weight = parameter.tensor;
    if (!weight.grad().defined() || weight.grad().is_sparse() || weight.is_complex()) continue;
    if (copied > 0 && copied + weight.numel() > kMostCopied) {
      next_ = (next_ + i) % parameters.size();
      return;
    }
    if (weight.numel() > kMostCopied) continue;
    copied += weight.numel();
    const at::Tensor master = StateOf("master", weight);
    const at::Tensor moved = master.defined() ? master : weight.detach();
    copies_.push_back({parameter, moved, StartOf(parameter, moved)});
  }
}

BeforeStep UpdateCheck::StartOf(const Parameter& parameter, const at::Tensor& moved) const {
  const at::Tensor& weight = parameter.tensor;
  const at::Tensor steps = StateOf("steps", weight);
  BeforeStep before;
  before.rate = parameter.rate;
  before.weight_decay = parameter.weight_decay;
  before.steps = steps.defined() ? steps.item<double>() : 0;
  before.weight = Wide(moved);
  before.gradient = Wide(weight.grad());
  before.momentum = Wide(StateOf("momentum", weight));
  before.first = Wide(StateOf("first", weight));
  before.second = Wide(StateOf("second", weight));
  before.product = Wide(StateOf("product", weight));
  return before;
}

void UpdateCheck::After() {
  for (const Copy& copy : std::exchange(copies_, {})) Write(copy);
}

void UpdateCheck::Write(const Copy& copy) {
  const at::Tensor change = ChangeOf(rule_, copy.before);
  if (!change.defined()) return;
  const at::Tensor after = Wide(copy.moved);
  const double size = change.norm().item<double>();
  const double error = (after - copy.before.weight - change).norm().item<double>();
  // A step of nothing, or of what is not finite, cannot be compared.
  if (!(size > 0) || !std::isfinite(size) || !std::isfinite(error)) return;
  if (copy.before.gradient.abs().max().item<double>() > kLargestGradient) return;
  const double epsilon = EpsilonOf(copy.moved.scalar_type());
  const double rounding = epsilon * after.norm().item<double>() / size + kRoundings * epsilon;
  const ProbeClock::About about{copy.parameter.thing, owner_};
  clock_->Put(Quantity::kUpdateError, about, error / size, rounding);
  const at::Tensor lost = change.ne(0).logical_and(after.eq(copy.before.weight));
  const auto elements = static_cast<double>(after.numel());
  clock_->Put(Quantity::kLostUpdates, about, lost.sum().item<double>() / elements, elements);
}

}  // namespace dlcheck
