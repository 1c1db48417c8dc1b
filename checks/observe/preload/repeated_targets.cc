#include "checks/observe/preload/repeated_targets.h"

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/probe/probe_models.h"
#include "checks/observe/probe/tensor_summary.h"

namespace dlcheck {
namespace {

constexpr int64_t kStepsSame = 16;         // as data/repeated_batch asks for
constexpr int64_t kMostTargets = 1 << 16;  // of a batch that is looked at
constexpr size_t kMostShapesOfTargets = 64;

// Targets that are all alike, or in two blocks, are those of many batches, as of a discriminator.
bool Differ(const at::Tensor& targets) {
  const at::Tensor flat = targets.reshape({-1});
  return flat.slice(0, 1).ne(flat.slice(0, 0, -1)).sum().item<int64_t>() > 1;
}

}  // namespace

void RepeatedTargets::LossGiven(const std::string& function, const at::Tensor& targets,
                                ProbeRecorder& recorder) {
  if (!recorder.clock().sampled() || !targets.device().is_cpu() ||
      targets.layout() != at::kStrided || targets.requires_grad() || targets.numel() < 2 ||
      targets.numel() > kMostTargets) {
    return;
  }
  const std::string key = function + " " + Shape(targets);
  if (same_.size() >= kMostShapesOfTargets && same_.count(key) == 0) return;
  Same& same = same_[key];
  const int64_t step = recorder.clock().step();
  if (same.is_told || same.last_step == step) return;  // of several micro-batches, the first
  same.last_step = step;
  const uint64_t digest = DigestTensors({targets});
  if (digest == same.digest) {
    ++same.steps;
    return;
  }
  const int64_t steps = same.differ ? same.steps : 0;
  same.digest = digest;
  same.steps = 1;
  same.differ = Differ(targets);
  if (steps < kStepsSame) return;
  same.is_told = true;
  ProbeClock& clock = recorder.clock();
  clock.Put(Quantity::kRepeatedTargets,
            {clock.writer().Thing("loss", 0, function), 0, recorder.Site(CallSite())},
            static_cast<double>(steps), static_cast<double>(targets.numel()));
}

}  // namespace dlcheck
