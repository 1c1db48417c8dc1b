#include "checks/observe/preload/clipping.h"

#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/probe/guarded.h"

namespace dlcheck {
namespace {

// What clip_grad_norm_ adds to the norm before it divides.
constexpr double kAdded = 1e-6;

bool IsNumber(const c10::IValue& value) {
  return value.isTensor() && value.toTensor().defined() && value.toTensor().numel() == 1;
}

}  // namespace

bool Clipping::IsNorm(const at::RecordFunction& function) {
  const std::string_view name = function.name();
  return name == "aten::norm" || name == "aten::linalg_vector_norm";
}

void Clipping::Returned(const at::RecordFunction& function) {
  if (function.outputs().empty() || !IsNumber(function.outputs()[0])) return;
  norm_ = function.outputs()[0].toTensor().item<double>();
}

// As it begins: an operation that has returned has its inputs no more.
void Clipping::SawNorm(const at::RecordFunction& function) {
  const auto inputs = function.inputs();
  kind_ = inputs.size() > 1 && inputs[1].isScalar() ? inputs[1].toScalar().toDouble() : 2;
}

// clamp(bound / (norm + 1e-6), max=1)
void Clipping::SawFactor(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const auto inputs = function.inputs();
  if (norm_ < 0 || inputs.size() < 3 || !IsNumber(inputs[0]) || !inputs[1].isNone()) return;
  if (!inputs[2].isScalar() || inputs[2].toScalar().toDouble() != 1) return;
  bound_ = inputs[0].toTensor().item<double>() * (norm_ + kAdded);
  if (std::isinf(norm_)) LookForOverflow(recorder);
}

// A norm may be infinite although no gradient is: every gradient is then divided to zero.
void Clipping::LookForOverflow(ProbeRecorder& recorder) {
  if (std::exchange(overflowed_, true)) return;
  for (const at::Tensor& leaf : recorder.models().Leaves()) {
    const at::Tensor& gradient = leaf.grad();
    if (gradient.defined() && !gradient.isfinite().all().item<bool>()) {
      overflowed_ = false;
      return;
    }
  }
  const uint32_t thing = recorder.clock().writer().Thing("clip", 0, "norm");
  recorder.clock().Put(Quantity::kOverflowedNorm, {thing, 0, recorder.Site(CallSite())}, 1);
}

const c10::StorageImpl* Clipping::GradientOf(const at::Tensor& tensor, ProbeRecorder& recorder) {
  if (!tensor.defined() || !tensor.has_storage()) return nullptr;
  const c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  const int64_t step = recorder.clock().step();
  if (std::exchange(gradients_of_, step) != step) {
    gradients_.clear();
    clipped_.clear();
  }
  if (gradients_.count(storage) > 0) return storage;
  gradients_.clear();
  for (const at::Tensor& leaf : recorder.models().Leaves()) {
    const at::Tensor& gradient = leaf.grad();
    if (gradient.defined() && gradient.has_storage()) {
      gradients_.insert(gradient.storage().unsafeGetStorageImpl());
    }
  }
  return gradients_.count(storage) > 0 ? storage : nullptr;
}

void Clipping::Saw(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const std::string_view name = function.name();
  if (name == "aten::clamp") {
    return Guarded(&recorder, [&](ProbeRecorder& guarded) { SawFactor(function, guarded); });
  }
  if (IsNorm(function)) return SawNorm(function);
  const bool scales = name == "aten::mul_" && bound_ > 0;
  const bool cuts = name == "aten::clamp_";
  if (!scales && !cuts) return;
  const auto inputs = function.inputs();
  if (inputs.empty() || !inputs[0].isTensor()) return;
  const c10::StorageImpl* gradient = GradientOf(inputs[0].toTensor(), recorder);
  if (gradient == nullptr) return;
  double bound = bound_;
  if (cuts) {
    if (inputs.size() < 3 || !inputs[1].isScalar() || !inputs[2].isScalar()) return;
    bound = inputs[2].toScalar().toDouble();
    if (inputs[1].toScalar().toDouble() != -bound) return;
  }
  clipped_.insert(gradient);
  if (std::exchange(step_, recorder.clock().step()) == recorder.clock().step()) return;
  norm_ = -1;
  Guarded(&recorder, [&](ProbeRecorder& guarded) {
    const Probe::Site site = CallSite();
    guarded.Clip(scales ? "norm" : "value", bound,
                 scales ? kind_ : std::numeric_limits<double>::infinity(), site);
    if (!cuts || std::exchange(told_, true)) return;
    const uint32_t thing = guarded.clock().writer().Thing("clip", 0, "value");
    guarded.clock().Put(Quantity::kClippedByValue, {thing, 0, guarded.Site(site)}, bound);
  });
}

void Clipping::Consumed(int optimizer, ProbeRecorder& recorder) {
  bound_ = 0;
  if (clipped_.empty()) return;
  int64_t clipped = 0;
  Storages all;  // a parameter may be in the optimizer twice
  for (const at::Tensor& parameter : recorder.Optimizer(optimizer).parameters()) {
    const at::Tensor& gradient = parameter.grad();
    if (!gradient.defined() || !gradient.has_storage()) continue;
    all.insert(gradient.storage().unsafeGetStorageImpl());
    clipped += static_cast<int64_t>(clipped_.erase(gradient.storage().unsafeGetStorageImpl()));
  }
  if (clipped == 0 || !recorder.clock().sampled()) return;
  const uint32_t thing = recorder.Optimizer(optimizer).thing();
  recorder.clock().Put(Quantity::kClippedParameters, {thing, thing}, static_cast<double>(clipped),
                       static_cast<double>(all.size()));
}

}  // namespace dlcheck
