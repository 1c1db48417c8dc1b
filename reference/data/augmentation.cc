#include "reference/data/augmentation.h"

#include <algorithm>
#include <cmath>

namespace dlcheck::reference {
namespace {

using torch::Tensor;

// What is drawn: one number for each view, and one for mixing.
constexpr uint32_t kMixing = 1000;

struct Box {
  int64_t top, bottom, left, right;
};

// A box of this share of the picture, around a place anywhere in it, cut off at its borders.
Box BoxOf(SampleStream& stream, double share, int64_t height, int64_t width) {
  const double side = std::sqrt(share);
  const int64_t half_height = static_cast<int64_t>(side * static_cast<double>(height)) / 2,
                half_width = static_cast<int64_t>(side * static_cast<double>(width)) / 2;
  const int64_t y = stream.Below(height), x = stream.Below(width);
  return {std::max<int64_t>(y - half_height, 0), std::min(y + half_height, height),
          std::max<int64_t>(x - half_width, 0), std::min(x + half_width, width)};
}

Tensor Within(const Tensor& picture, const Box& box) {
  return picture.slice(1, box.top, box.bottom).slice(2, box.left, box.right);
}

}  // namespace

SampleStream Augmentation::StreamOf(int64_t row, int64_t epoch, uint32_t purpose) const {
  const bool is_shared = options_.deviation == AugmentationDeviation::kSameForAll;
  return SampleStream(options_.seed, epoch, is_shared ? 0 : row, purpose);
}

Batch Augmentation::Changed(Batch batch, const std::vector<int64_t>& rows, int64_t epoch,
                            uint32_t view) const {
  if (!crops() && !options_.flip) return batch;
  const int64_t padding = options_.crop_padding, height = batch.x.size(2), width = batch.x.size(3);
  const Tensor padded = torch::constant_pad_nd(batch.x, {padding, padding, padding, padding});
  Tensor changed = torch::empty_like(batch.x);
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    SampleStream stream = StreamOf(rows[i], epoch, view);
    const int64_t top = stream.Below(2 * padding + 1), left = stream.Below(2 * padding + 1);
    Tensor picture = Within(padded[at], {top, top + height, left, left + width});
    if (options_.flip && stream.Uniform() < 0.5) picture = picture.flip(2);
    changed[at].copy_(picture);
  }
  return {changed, batch.y};
}

Batch Augmentation::Mixed(Batch batch, const Batch& others, const std::vector<int64_t>& rows,
                          int64_t epoch) const {
  const Tensor own = torch::one_hot(batch.y, options_.classes).to(torch::kFloat),
               other = torch::one_hot(others.y, options_.classes).to(torch::kFloat);
  Batch mixed{batch.x.clone(), own.clone()};
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto at = static_cast<int64_t>(i);
    SampleStream stream = StreamOf(rows[i], epoch, kMixing);
    const bool is_first = stream.Uniform() < 0.5;
    const bool cuts = options_.cutmix > 0 && (options_.mixup == 0 || is_first);
    double share = stream.Beta(cuts ? options_.cutmix : options_.mixup);  // of the sample itself
    Tensor picture = mixed.x[at];
    if (cuts) {
      const int64_t height = picture.size(1), width = picture.size(2);
      const Box box = BoxOf(stream, 1 - share, height, width);
      Within(picture, box).copy_(Within(others.x[at], box));
      const auto area = static_cast<double>((box.bottom - box.top) * (box.right - box.left));
      if (options_.deviation != AugmentationDeviation::kShareAsDrawn) {
        share = 1 - area / static_cast<double>(height * width);
      }
    } else {
      picture.mul_(share).add_(others.x[at], 1 - share);
    }
    if (options_.deviation == AugmentationDeviation::kTargetsNotMixed) continue;
    mixed.y[at].mul_(share).add_(other[at], 1 - share);
  }
  return mixed;
}

}  // namespace dlcheck::reference
