#include "checks/observe/preload/gradient_factor.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/clipping.h"
#include "checks/observe/probe/guarded.h"

namespace dlcheck {
namespace {

constexpr int64_t kMostGradients = 1024;
constexpr int64_t kFewestGradients = 4;  // that are not zero: any change of one number is a factor
constexpr int64_t kFewestWeights = 8;    // that are compared with what was added to their gradients
constexpr double kNear = 1e-4;           // relative, of products in float32

bool IsReadable(const at::Tensor& tensor) {
  return tensor.defined() && tensor.device().is_cpu() && tensor.layout() == at::kStrided &&
         tensor.is_floating_point() && tensor.numel() > 0;
}

at::Tensor FirstOf(const at::Tensor& gradient) {
  const at::Tensor flat = gradient.detach().reshape({-1});
  return flat.narrow(0, 0, std::min(flat.numel(), kMostGradients));
}

// The number that every entry was multiplied by; 0 if there is none.
double FactorBetween(const at::Tensor& before, const at::Tensor& now) {
  if (now.sizes() != before.sizes() || now.equal(before)) return 0;
  if (before.count_nonzero().item<int64_t>() < kFewestGradients) return 0;
  const at::Tensor place = before.abs().argmax();
  const double largest = before.index({place}).item<double>();
  const double factor = now.index({place}).item<double>() / largest;
  return now.allclose(before * factor, kNear, /*atol=*/0) ? factor : 0;
}

// Above 1, or one over a whole number, as of a mean over micro-batches.
bool IsTold(double factor) {
  if (factor > 1 + kNear) return true;
  if (factor <= 0 || factor >= 1 - kNear) return false;
  const double parts = 1 / factor;
  return std::abs(parts - std::round(parts)) < kNear * parts;
}

}  // namespace

void GradientFactor::BackwardEnds(ProbeRecorder& recorder) {
  if (!recorder.clock().sampled()) return;
  for (auto& [optimizer, kept] : kept_) {
    const at::Tensor& gradient = kept.parameter.grad();
    kept.is_scaled = false;
    kept.before = IsReadable(gradient) ? FirstOf(gradient).clone() : at::Tensor();
    waits_ = waits_ || kept.before.defined();
  }
}

void GradientFactor::Saw(const at::RecordFunction& function, ProbeRecorder& recorder) {
  if (!waits_) return;
  const std::string_view name = function.name();
  const auto inputs = function.inputs();
  if (inputs.empty() || !inputs[0].isTensor() || !inputs[0].toTensor().defined()) return;
  const at::Tensor& given = inputs[0].toTensor();
  if (!given.has_storage()) return;  // a sparse one
  for (auto& [optimizer, kept] : kept_) {
    const at::Tensor& gradient = kept.parameter.grad();
    if (!kept.before.defined() || !gradient.defined() || !gradient.has_storage()) continue;
    if (!given.is_alias_of(gradient)) continue;
    if (Clipping::IsNorm(function)) {
      Guarded(&recorder, [&, number = optimizer, &own = kept](ProbeRecorder& guarded) {
        Compare(number, own, guarded);
      });
    } else if (!kept.is_scaled && (name.substr(0, 9) == "aten::mul" || name == "aten::div_")) {
      kept.is_scaled = true;
      kept.site = CallSite();
    }
  }
}

void GradientFactor::Compare(int optimizer, Kept& kept, ProbeRecorder& recorder) {
  const at::Tensor before = std::exchange(kept.before, at::Tensor());
  const at::Tensor& gradient = kept.parameter.grad();
  if (!before.defined() || !IsReadable(gradient)) return;
  const double factor = FactorBetween(before, FirstOf(gradient));
  if (!IsTold(factor)) return LookForDecay(optimizer, kept, before, recorder);
  const uint32_t site = recorder.Site(kept.is_scaled ? kept.site : CallSite());
  recorder.clock().Put(Quantity::kGradientFactor, {recorder.Optimizer(optimizer).thing(), 0, site},
                       factor, static_cast<double>(kept_.size()));
}

// Of what was added to a gradient: whether it is the weights, times one number. An optimizer that
// divides by the size of the gradients divides it, too.
void GradientFactor::LookForDecay(int optimizer, const Kept& kept, const at::Tensor& before,
                                  ProbeRecorder& recorder) {
  const std::string& type = recorder.Optimizer(optimizer).type();
  const bool is_adaptive =
      type == "Adam" || type == "AdamW" || type == "RMSprop" || type == "Adagrad";
  if (!is_adaptive || !IsReadable(kept.parameter)) return;
  const at::Tensor weights = FirstOf(kept.parameter), now = FirstOf(kept.parameter.grad());
  if (weights.numel() < kFewestWeights || weights.sizes() != before.sizes() ||
      now.sizes() != before.sizes()) {
    return;
  }
  const at::Tensor added = now - before;
  const double size = weights.dot(weights).item<double>();
  const double share = size > 0 ? added.dot(weights).item<double>() / size : 0;
  if (!(share > 0)) return;
  const double near = kNear * added.abs().max().item<double>();
  if (!added.allclose(share * weights, /*rtol=*/0.01, near)) return;
  recorder.clock().Put(Quantity::kDecayInGradients,
                       {recorder.Optimizer(optimizer).thing(), 0, recorder.Site(CallSite())}, share,
                       type == "AdamW" ? 1 : 0);
}

// One that steps for the first time is met here, and compared from its next step on.
void GradientFactor::Consumed(int optimizer, ProbeRecorder& recorder) {
  const auto known = kept_.find(optimizer);
  if (known != kept_.end()) {
    Compare(optimizer, known->second, recorder);
  } else {
    for (const at::Tensor& parameter : recorder.Optimizer(optimizer).parameters()) {
      if (!IsReadable(parameter.grad()) || parameter.numel() < kFewestGradients) continue;
      kept_[optimizer].parameter = parameter;
      break;
    }
  }
  waits_ = std::any_of(kept_.begin(), kept_.end(),
                       [](const auto& each) { return each.second.before.defined(); });
}

}  // namespace dlcheck
