#include "checks/observe/preload/experiments/zero_rate.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "checks/observe/preload/experiments/dropout_off.h"
#include "checks/observe/preload/watcher.h"
#include "checks/observe/probe/guarded.h"

namespace dlcheck {
namespace {

constexpr int kSettling = 4;  // steps: what the first batch initializes comes to rest

void SetStill(const torch::optim::Optimizer& optimizer) {
  for (const auto& group : optimizer.param_groups()) {
    const_cast<torch::optim::OptimizerParamGroup&>(group).options().set_lr(0);
  }
}

// The root of the mean of all squares.
double Size(const std::vector<std::pair<at::Tensor, at::Tensor>>& kept) {
  double squares = 0, count = 0;
  for (const auto& [parameter, numbers] : kept) {
    squares += numbers.to(at::kDouble).square().sum().item<double>();
    count += static_cast<double>(numbers.numel());
  }
  return count > 0 ? std::sqrt(squares / count) : 0;
}

double SizeOf(const at::Tensor& numbers) { return Size({{at::Tensor(), numbers}}); }

double Cosine(const at::Tensor& one, const at::Tensor& other) {
  const double size = (one.norm() * other.norm()).item<double>();
  return size > 0 ? one.flatten().dot(other.flatten()).item<double>() / size : 0;
}

double ResolutionOf(const at::Tensor& tensor) {
  switch (tensor.scalar_type()) {
    case at::kDouble:
      return std::numeric_limits<double>::epsilon();
    case at::kHalf:
      return std::numeric_limits<c10::Half>::epsilon();
    case at::kBFloat16:
      return std::numeric_limits<c10::BFloat16>::epsilon();
    default:
      return std::numeric_limits<float>::epsilon();
  }
}

}  // namespace

ZeroRate::ZeroRate(ProbeRecorder& recorder) : ProgramExperiment(recorder) { BeginTap(*this); }

void ZeroRate::Before(const c10::FunctionSchema& schema, bool, OperationValues& arguments) {
  SwitchDropoutOff(schema, arguments);
}

void ZeroRate::Scheduled(torch::optim::Optimizer& optimizer) { SetStill(optimizer); }

at::Tensor ZeroRate::Step(torch::optim::Optimizer& optimizer, int number, Closure closure,
                          const OwnStep& own) {
  if (dynamic_cast<const torch::optim::LBFGS*>(&optimizer) != nullptr) {
    Refuse("LBFGS looks along a line for the length of its steps");
  }
  SetStill(optimizer);
  Resting& resting = resting_[number];
  {
    const Watcher::Inside inside;
    Guarded(&recorder(), [&](ProbeRecorder&) { LookBefore(resting); });
  }
  at::Tensor loss = own(std::move(closure));
  const Watcher::Inside inside;
  Guarded(&recorder(), [&](ProbeRecorder&) { LookAfter(optimizer, number, resting); });
  return loss;
}

void ZeroRate::LookBefore(Resting& resting) {
  resting.between.clear();
  for (const auto& [parameter, numbers] : resting.kept) {
    const bool is_same = parameter.sizes() == numbers.sizes() && at::equal(parameter, numbers);
    if (!is_same) resting.between.insert(parameter.unsafeGetTensorImpl());
  }
}

void ZeroRate::LookAfter(const torch::optim::Optimizer& optimizer, int number, Resting& resting) {
  if (++resting.steps > kSettling) Compare(number, resting);
  resting.kept.clear();
  for (const auto& group : optimizer.param_groups()) {
    for (const at::Tensor& parameter : group.params()) {
      if (!parameter.grad().defined() || parameter.layout() != at::kStrided) continue;
      resting.kept.emplace_back(parameter, parameter.detach().clone());
    }
  }
}

void ZeroRate::Compare(int number, const Resting& resting) {
  const uint32_t owner = recorder().Optimizer(number).thing();
  ProbeClock& clock = recorder().clock();
  clock.Put(Quantity::kRestedParameters, {owner, owner}, static_cast<double>(resting.kept.size()));
  const double usual = Size(resting.kept);
  for (const auto& [parameter, numbers] : resting.kept) {
    if (parameter.sizes() != numbers.sizes() || !numbers.isfinite().all().item<bool>()) continue;
    // What a batch, or a mask, does to some weights alone is no change for want of a rate.
    const auto changed = parameter.ne(numbers).sum().item<int64_t>();
    if (2 * changed <= numbers.ne(0).sum().item<int64_t>()) continue;
    const at::Tensor before = numbers.to(at::kDouble), moved = parameter.to(at::kDouble) - before;
    const double size = std::max(usual, SizeOf(numbers));
    const double share = size > 0 ? SizeOf(moved) / size : HUGE_VAL;
    const ProbeModels::Parameter* known = recorder().models().Find(parameter);
    const ProbeClock::About about{known == nullptr ? 0 : known->thing, owner};
    const bool is_between = resting.between.count(parameter.unsafeGetTensorImpl()) > 0;
    clock.Put(Quantity::kUnscaledChange, about, share, ResolutionOf(numbers));
    clock.Put(Quantity::kUnscaledDirection, about, Cosine(moved, before), is_between ? 1 : 0);
  }
}

}  // namespace dlcheck
