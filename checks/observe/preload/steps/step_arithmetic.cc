#include "checks/observe/preload/steps/step_arithmetic.h"

#include <cmath>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr uint32_t kFewestMicroSteps = 8;
constexpr int64_t kFewestOfWeight = 32;  // entries of a weight whose growth is followed
constexpr double kLeastSize = 1e-4;      // root mean square of a weight that is not zero
constexpr double kNotableGrowth = 4;

// The root of the mean of the squares of its entries.
double RootMeanSquare(const at::Tensor& weight) {
  const double norm =
      at::linalg_vector_norm(weight.detach(), 2, {}, false, at::kDouble).item<double>();
  return norm / std::sqrt(static_cast<double>(weight.numel()));
}

bool IsFollowed(const at::Tensor& weight) {
  return weight.dim() >= 2 && weight.numel() >= kFewestOfWeight && weight.device().is_cpu() &&
         weight.layout() == at::kStrided && weight.is_floating_point();
}

}  // namespace

void StepArithmetic::BeginStep(int optimizer, ProbeRecorder& recorder) {
  ProbeClock& clock = recorder.clock();
  if (!clock.sampled() || clock.micro_step() < kFewestMicroSteps) return;
  for (const at::Tensor& parameter : recorder.Optimizer(optimizer).parameters()) {
    if (!parameter.grad().defined()) continue;
    const at::ScalarType type = parameter.grad().scalar_type();
    if (type != at::kHalf && type != at::kBFloat16) return;
    clock.Put(Quantity::kHalfAccumulation,
              {recorder.Optimizer(optimizer).thing(), 0, recorder.Site(CallSite())},
              static_cast<double>(clock.micro_step()), type == at::kHalf ? 11 : 8);
    return;
  }
}

// Tells of the weight that grew most.
void StepArithmetic::AfterStep(int optimizer, int64_t step, ProbeRecorder& recorder) {
  if ((step & (step - 1)) != 0) return;
  uint32_t most = 0;
  double growth = 0, since = 0;
  for (const at::Tensor& parameter : recorder.Optimizer(optimizer).parameters()) {
    const ProbeModels::Parameter* known = recorder.models().Find(parameter);
    if (known == nullptr || !IsFollowed(parameter)) continue;
    const double size = RootMeanSquare(parameter);
    Size& sizes = sizes_.try_emplace(known->thing, Size{size, size}).first->second;
    if (sizes.first >= kLeastSize && size / sizes.first > growth) {
      most = known->thing;
      growth = size / sizes.first;
      since = size / sizes.last;
    }
    sizes.last = size;
  }
  if (growth < kNotableGrowth) return;
  recorder.clock().Put(Quantity::kWeightGrowth, {most}, growth, since);
}

}  // namespace dlcheck
