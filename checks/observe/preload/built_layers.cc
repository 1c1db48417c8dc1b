#include "checks/observe/preload/built_layers.h"

#include <string_view>
#include <utility>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr int kStepsBuilt = 3;
constexpr size_t kMostDrawn = 64;  // of a step

}  // namespace

void BuiltLayers::Saw(const at::RecordFunction& function, const ProbeClock& clock) {
  const std::string_view name = function.name();
  if (name != "aten::uniform_" && name != "aten::normal_") return;
  if (std::exchange(step_, clock.step()) != clock.step()) drawn_.clear();
  const auto inputs = function.inputs();
  if (steps_ >= kStepsBuilt || drawn_.size() >= kMostDrawn || inputs.empty() ||
      !inputs[0].isTensor()) {
    return;
  }
  const at::Tensor& tensor = inputs[0].toTensor();
  if (!tensor.defined() || !tensor.requires_grad() || tensor.dim() < 2) return;
  drawn_.push_back({tensor.unsafeGetTensorImpl(), CallSite()});
}

void BuiltLayers::Depends(const at::Tensor& weight, ProbeRecorder& recorder) {
  const int64_t step = recorder.clock().step();
  if (step != step_ || steps_ >= kStepsBuilt) return;
  for (const Drawn& drawn : drawn_) {
    if (drawn.tensor != weight.unsafeGetTensorImpl()) continue;
    ++layers_;
    if (std::exchange(last_step_, step) == step || ++steps_ < kStepsBuilt) return;
    const char* kind = weight.dim() == 2 ? "Linear" : "Conv";
    const uint32_t thing = recorder.clock().writer().Thing("class", 0, kind);
    recorder.clock().Put(Quantity::kBuiltAnew, {thing, 0, recorder.Site(drawn.site)}, layers_, 1);
    return;
  }
}

}  // namespace dlcheck
