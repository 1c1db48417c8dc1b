// Pictures that are changed at random before a model sees them: crops, flips, mixup and CutMix.
//
// Each sample of each epoch has a stream of random numbers of its own. Letters: B batch, C classes.
#pragma once

#include <cstdint>
#include <vector>

#include "reference/data/sample_stream.h"
#include "reference/data/source.h"

namespace dlcheck::reference {

// kShareAsDrawn    CutMix mixes the targets by the area that was drawn, and not by what lies in the
//                  picture
// kTargetsNotMixed the targets are those of the sample alone
// kSameForAll      all samples of an epoch have one stream
enum class AugmentationDeviation : uint8_t { kNone, kShareAsDrawn, kTargetsNotMixed, kSameForAll };

class Augmentation {
 public:
  struct Options {
    int64_t crop_padding = 0;  // zeros on each side, the mean of the data; then a crop of the size
    bool flip = false;         // left to right, every second sample
    // Of Beta(alpha, alpha), from 0, which is none, to 1. Mixup: Zhang et al. 2018. CutMix: Yun et
    // al. 2019. With both, each sample has one of them, with equal chance.
    double mixup = 0, cutmix = 0;
    uint64_t seed = 0;
    int64_t classes = 0;  // C
    AugmentationDeviation deviation = AugmentationDeviation::kNone;
  };

  explicit Augmentation(const Options& options) : options_(options) {}

  bool changes() const { return crops() || options_.flip || mixes(); }
  bool mixes() const { return options_.mixup > 0 || options_.cutmix > 0; }

  // `batch` holds these rows of the source, pictures (B, channels, height, width), in this epoch.
  // Crops and flips. Another view of the same samples has other random numbers.
  Batch Changed(Batch batch, const std::vector<int64_t>& rows, int64_t epoch,
                uint32_t view = 0) const;

  // Each sample of `batch` with the one of the same place of `others`, both of them Changed.
  // Targets become probabilities, (B, C), float.
  Batch Mixed(Batch batch, const Batch& others, const std::vector<int64_t>& rows,
              int64_t epoch) const;

 private:
  bool crops() const { return options_.crop_padding > 0; }
  SampleStream StreamOf(int64_t row, int64_t epoch, uint32_t purpose) const;

  Options options_;
};

}  // namespace dlcheck::reference
