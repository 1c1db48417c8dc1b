#include "checks/observe/preload/losses/unrelated_noise.h"

#include <cmath>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr size_t kFewestNoisySteps = 4, kMostNoisySteps = 32;
constexpr int64_t kFewestNoises = 1024, kMostNoises = 1 << 18;  // of all steps, of one batch
constexpr double kCertain = 4;  // standard errors of a moment and a correlation

// Whether the first four moments are those of a standard normal distribution, as far as so many
// numbers tell.
bool IsNormal(const at::Tensor& values) {
  struct Moment {
    int power;
    double mean, variance;
  };
  const auto count = static_cast<double>(values.numel());
  for (const Moment& moment :
       {Moment{1, 0, 1}, Moment{2, 1, 2}, Moment{3, 0, 15}, Moment{4, 3, 96}}) {
    const double found = values.pow(moment.power).mean().item<double>();
    if (!(std::abs(found - moment.mean) <= kCertain * std::sqrt(moment.variance / count))) {
      return false;
    }
  }
  return true;
}

bool AreUnrelated(const at::Tensor& targets, const at::Tensor& inputs) {
  const at::Tensor centered = inputs - inputs.mean();
  const double size = centered.norm().item<double>() * targets.norm().item<double>();
  const double bound = kCertain * size / std::sqrt(static_cast<double>(targets.numel()));
  return size > 0 && std::abs(centered.dot(targets).item<double>()) <= bound;
}

at::Tensor CopyOfAll(const at::Tensor& tensor) {
  return tensor.detach().to(at::kDouble, /*non_blocking=*/false, /*copy=*/true).reshape({-1});
}

}  // namespace

void UnrelatedNoise::Enters(const at::Tensor& input) { input_ = Weak(input.getIntrusivePtr()); }

void UnrelatedNoise::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  const at::Tensor& targets = loss.targets;
  if (done_.count(loss.thing) > 0 || !loss.TakesNumbers() || targets.dim() < 2) return;
  if (targets.sizes() != loss.outputs.sizes() || targets.requires_grad()) return;
  if (!IsAtHand(targets) || targets.numel() == 0 || targets.numel() > kMostNoises) return;
  const auto held = input_.lock();
  const at::Tensor input = held ? at::Tensor(held) : at::Tensor();
  const bool fits = IsAtHand(input) && input.sizes() == targets.sizes() &&
                    input.is_floating_point() && IsNormal(targets.detach().to(at::kDouble));
  if (!fits) {
    done_.insert(loss.thing);
    found_.erase(loss.thing);
    return;
  }
  Pairs& pairs = found_[loss.thing];
  pairs.emplace_back(CopyOfAll(targets), CopyOfAll(input));
  int64_t numbers = 0;
  for (const auto& [noise, given] : pairs) numbers += noise.numel();
  const bool enough = pairs.size() >= kFewestNoisySteps && numbers >= kFewestNoises;
  if (!enough && pairs.size() < kMostNoisySteps) return;
  done_.insert(loss.thing);
  Judge(loss.thing, pairs, recorder);
  found_.erase(loss.thing);
}

void UnrelatedNoise::Judge(uint32_t thing, const Pairs& pairs, ProbeRecorder& recorder) {
  std::vector<at::Tensor> noises, inputs;
  for (const auto& [noise, input] : pairs) {
    if (!noises.empty() && noise.equal(noises.front())) return;  // a fixed target
    noises.push_back(noise);
    inputs.push_back(input);
  }
  const at::Tensor targets = at::cat(noises), given = at::cat(inputs);
  if (targets.numel() < kFewestNoises || !IsNormal(targets) || !AreUnrelated(targets, given)) {
    return;
  }
  recorder.clock().Put(Quantity::kUnrelatedNoise, {thing, 0, recorder.Site(CallSite())},
                       static_cast<double>(targets.numel()), static_cast<double>(pairs.size()));
}

}  // namespace dlcheck
