#include "checks/observe/preload/batches/made_classes.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "checks/observe/preload/call_sites.h"
#include "checks/observe/preload/given_tensors.h"
#include "checks/observe/probe/tensor_summary.h"

namespace dlcheck {
namespace {

constexpr int kMostResized = 512, kMostLooksAtMasks = 64;
constexpr size_t kMostMasks = 1024;
constexpr int64_t kMostEntriesOfMask = 1 << 20, kMostBeginning = 4096;
constexpr int64_t kMostClassesOfMask = 32;  // a picture has more brightnesses
constexpr int64_t kMostMasksOfLoss = 8;

bool IsMasks(const at::Tensor& tensor) {
  return IsAtHand(tensor) && tensor.is_floating_point() && tensor.dim() > 2 && tensor.numel() > 0 &&
         tensor.numel() <= kMostEntriesOfMask;
}

at::Tensor DifferentOf(const at::Tensor& numbers) { return std::get<0>(at::_unique2(numbers)); }

bool IsWhole(const at::Tensor& numbers) { return numbers.eq(numbers.floor()).all().item<bool>(); }

}  // namespace

bool MadeClasses::Is(const at::RecordFunction& function) const {
  if (calls_ >= kMostResized) return false;
  const std::string_view name = function.name();
  for (const char* kind :
       {"aten::upsample_linear1d", "aten::upsample_bilinear2d", "aten::upsample_bicubic2d",
        "aten::upsample_trilinear3d", "aten::adaptive_avg_pool2d"}) {
    if (name == kind) return true;
  }
  return false;
}

void MadeClasses::Begins(const at::RecordFunction& function) {
  const at::Tensor source = TensorGiven(function, 0);
  const bool is_looked_at = IsMasks(source) && !source.requires_grad();
  source_ = is_looked_at && IsWhole(source.detach()) ? source.detach() : at::Tensor();
}

void MadeClasses::Returned(const at::RecordFunction& function) {
  const at::Tensor source = std::exchange(source_, at::Tensor()), result = OnlyResult(function);
  if (!source.defined() || !IsMasks(result) || source.size(0) != result.size(0)) return;
  ++calls_;
  const at::Tensor after = result.detach();
  if (IsWhole(after)) return;
  const Probe::Site site = CallSite();
  for (int64_t i = 0; i < source.size(0); ++i) {
    // The beginning of a picture has too many values already, and is read in no time.
    const at::Tensor flat = source[i].reshape({-1});
    const at::Tensor begins = flat.narrow(0, 0, std::min(flat.numel(), kMostBeginning));
    if (DifferentOf(begins).numel() > kMostClassesOfMask) continue;
    const at::Tensor known = DifferentOf(flat).to(at::kLong);
    if (known.numel() > kMostClassesOfMask) continue;
    Keep(known, after[i].floor().to(at::kLong), site);
    Keep(known, after[i].round().to(at::kLong), site);
  }
}

void MadeClasses::Keep(const at::Tensor& known, const at::Tensor& made, const Probe::Site& site) {
  if (masks_.size() >= kMostMasks) return;
  const at::Tensor strange = made.masked_select(at::isin(made, known).logical_not());
  if (strange.numel() == 0) return;
  masks_[DigestTensors({made.contiguous()})] = {static_cast<double>(strange.numel()),
                                                strange[0].item<double>(), site};
}

void MadeClasses::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  if (masks_.empty() || looks_ >= kMostLooksAtMasks || !loss.TakesClasses()) return;
  const at::Tensor targets = loss.targets.detach();
  if (!IsAtHand(targets) || targets.dim() < 2 || targets.scalar_type() != at::kLong) return;
  ++looks_;
  for (int64_t i = 0; i < std::min(targets.size(0), kMostMasksOfLoss); ++i) {
    const auto found = masks_.find(DigestTensors({targets[i].contiguous()}));
    if (found == masks_.end()) continue;
    looks_ = kMostLooksAtMasks;
    const Made& made = found->second;
    recorder.clock().Put(Quantity::kMadeClasses, {loss.thing, 0, recorder.Site(made.site)},
                         made.positions, made.one);
    return;
  }
}

}  // namespace dlcheck
