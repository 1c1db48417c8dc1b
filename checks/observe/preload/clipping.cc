#include "checks/observe/preload/clipping.h"

#include <cmath>
#include <limits>
#include <string_view>

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
void Clipping::SawFactor(const at::RecordFunction& function) {
  const auto inputs = function.inputs();
  if (norm_ < 0 || inputs.size() < 3 || !IsNumber(inputs[0]) || !inputs[1].isNone()) return;
  if (!inputs[2].isScalar() || inputs[2].toScalar().toDouble() != 1) return;
  bound_ = inputs[0].toTensor().item<double>() * (norm_ + kAdded);
}

bool Clipping::IsGradient(const at::Tensor& tensor, const ProbeRecorder& recorder) {
  if (!tensor.defined() || !tensor.has_storage()) return false;
  for (const at::Tensor& leaf : recorder.models().Leaves()) {
    const at::Tensor& gradient = leaf.grad();
    if (gradient.defined() && gradient.has_storage() &&
        gradient.storage().unsafeGetStorageImpl() == tensor.storage().unsafeGetStorageImpl()) {
      return true;
    }
  }
  return false;
}

void Clipping::Saw(const at::RecordFunction& function, ProbeRecorder& recorder) {
  const std::string_view name = function.name();
  if (name == "aten::clamp") return SawFactor(function);
  if (IsNorm(function)) return SawNorm(function);
  const bool scales = name == "aten::mul_" && bound_ > 0;
  const bool cuts = name == "aten::clamp_";
  if ((!scales && !cuts) || recorder.clock().step() == step_) return;
  const auto inputs = function.inputs();
  if (inputs.empty() || !inputs[0].isTensor() || !IsGradient(inputs[0].toTensor(), recorder))
    return;
  double bound = bound_;
  if (cuts) {
    if (inputs.size() < 3 || !inputs[1].isScalar() || !inputs[2].isScalar()) return;
    bound = inputs[2].toScalar().toDouble();
    if (inputs[1].toScalar().toDouble() != -bound) return;
  }
  step_ = recorder.clock().step();
  bound_ = 0;
  norm_ = -1;
  Guarded(&recorder, [&](ProbeRecorder& guarded) {
    guarded.Clip(scales ? "norm" : "value", bound,
                 scales ? kind_ : std::numeric_limits<double>::infinity(), CallSite());
  });
}

}  // namespace dlcheck
