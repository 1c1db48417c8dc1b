#include "checks/observe/preload/batches/misaligned_masks.h"

#include <algorithm>
#include <vector>

#include "checks/observe/preload/call_sites.h"

namespace dlcheck {
namespace {

constexpr int kMostStepsOfMasks = 24;
constexpr int64_t kMostImages = 8, kLeastSide = 8, kMostPixels = 32;  // of a step, of a side
constexpr int64_t kMostKindsInMask = 16;  // different numbers: a picture has more
constexpr double kMarginOfFit = 0.3;      // by which one change fits better than all others
constexpr int64_t kFewestFits = 32;
constexpr double kLeastShareOfFits = 0.15, kMostOtherFits = 0.03;

// (samples), not a number where one of the two is constant.
at::Tensor Correlations(const at::Tensor& images, const at::Tensor& masks) {
  const at::Tensor one = images.flatten(1) - images.flatten(1).mean(1, /*keepdim=*/true);
  const at::Tensor other = masks.flatten(1) - masks.flatten(1).mean(1, /*keepdim=*/true);
  return (one * other).sum(1) / (one.norm(2, {1}) * other.norm(2, {1}));
}

at::Tensor Thinned(const at::Tensor& images) {
  at::Tensor found = images.narrow(0, 0, std::min(images.size(0), kMostImages)).to(at::kDouble);
  for (const int64_t axis : {-2, -1}) {
    found = found.slice(axis, std::nullopt, std::nullopt,
                        std::max<int64_t>(1, images.size(axis) / kMostPixels));
  }
  return found;
}

// Of each sample with a clear answer: the number of the change after which its mask fits best.
std::vector<int64_t> ChangesThatFit(const at::Tensor& images, const at::Tensor& masks) {
  const at::Tensor bright = Thinned(images).mean(1), small = Thinned(masks);
  std::vector<at::Tensor> changed = {small, small.flip({-1}), small.flip({-2}),
                                     small.flip({-1, -2})};
  if (small.size(-1) == small.size(-2)) {
    for (size_t i = 0; i < 4; ++i) changed.push_back(changed[i].transpose(-1, -2));
  }
  for (at::Tensor& each : changed) each = Correlations(bright, each);
  const at::Tensor fits = at::stack(changed, 1).abs();
  const auto [best, number] = fits.max(1);
  const at::Tensor others = fits.scatter(1, number.unsqueeze(1), -1.0).amax({1});
  const at::Tensor clear = (best - others).ge(kMarginOfFit).logical_and(fits.isfinite().all(1));
  const at::Tensor found = number.masked_select(clear).contiguous();
  const auto* first = found.data_ptr<int64_t>();
  return {first, first + found.numel()};
}

bool MayHaveMasks(const LossGiven& loss) {
  return loss.TakesClasses() || loss.function == "binary_cross_entropy_with_logits" ||
         loss.function == "binary_cross_entropy" || loss.function == "mse_loss" ||
         loss.function == "l1_loss";
}

// Whether these may be the masks (samples, height, width) of images (samples, channels, the same).
bool MayFit(const at::Tensor& images, const at::Tensor& masks) {
  if (!IsAtHand(images) || !IsAtHand(masks) || images.dim() != 4) return false;
  if (masks.dim() != 3 && masks.dim() != 4) return false;
  return masks.size(0) == images.size(0) && masks.size(-1) == images.size(-1) &&
         masks.size(-2) == images.size(-2) && !masks.is_complex() && !images.is_complex() &&
         std::min(masks.size(-1), masks.size(-2)) >= kLeastSide;
}

}  // namespace

void MisalignedMasks::Enters(const at::Tensor& input) {
  images_.reset();
  if (input.dim() == 4 && input.is_floating_point()) images_ = Weak(input.getIntrusivePtr());
}

void MisalignedMasks::Given(const LossGiven& loss, ProbeRecorder& recorder) {
  if (!MayHaveMasks(loss)) return;
  const auto held = images_.lock();
  const at::Tensor images = held ? at::Tensor(held) : at::Tensor();
  const at::Tensor masks = loss.targets.detach();
  Known& known = known_[loss.thing];
  if (known.is_settled || known.steps >= kMostStepsOfMasks || !MayFit(images, masks)) return;
  known.is_settled =
      (masks.dim() == 4 && masks.size(1) != 1) ||
      (masks.sizes() == images.sizes() && masks.equal(images.to(masks.scalar_type()))) ||
      std::get<0>(at::_unique2(masks.narrow(0, 0, std::min(masks.size(0), kMostImages)))).numel() >
          kMostKindsInMask;
  if (known.is_settled) return;
  ++known.steps;
  const at::Tensor flat = masks.reshape({masks.size(0), masks.size(-2), masks.size(-1)});
  for (const int64_t change : ChangesThatFit(images.detach(), flat)) ++known.fits[change];
  Judge(loss.thing, known, recorder);
}

// Tells only where both occur: a data set may be turned as a whole.
void MisalignedMasks::Judge(uint32_t thing, Known& known, ProbeRecorder& recorder) {
  int64_t total = 0, most = 0, others = 0;
  for (const auto& [change, count] : known.fits) {
    total += count;
    if (change == 0) continue;
    others += std::min(most, count);
    most = std::max(most, count);
  }
  const auto all = static_cast<double>(total);
  const double both = static_cast<double>(std::min(most, known.fits[0]));
  if (total < kFewestFits || both < kLeastShareOfFits * all) return;
  if (static_cast<double>(others) > kMostOtherFits * all) return;
  known.is_settled = true;
  recorder.clock().Put(Quantity::kMisalignedMasks, {thing, 0, recorder.Site(CallSite())},
                       static_cast<double>(most), all);
}

}  // namespace dlcheck
