// Crops, flips, mixup and CutMix of one batch.
#include "reference/data/augmentation.h"

#include "tests/pytorch_parity/subject/subject.h"

namespace dlcheck::reference {

// Inputs: `x` (B, channels, height, width), `y`, `rows` (B), `other_x`, `other_y`, `other_rows`.
// Puts out `x` and `y`.
void Augmented(Case& run) {
  Augmentation::Options options;
  options.crop_padding = run.Integer("crop_padding", 0);
  options.flip = run.Flag("flip");
  options.mixup = run.Number("mixup", 0);
  options.cutmix = run.Number("cutmix", 0);
  options.seed = static_cast<uint64_t>(run.Integer("seed", 0));
  options.classes = run.Integer("classes", 0);
  options.deviation = run.Named<AugmentationDeviation>(
      "deviation", {{"none", AugmentationDeviation::kNone},
                    {"share_as_drawn", AugmentationDeviation::kShareAsDrawn},
                    {"targets_not_mixed", AugmentationDeviation::kTargetsNotMixed},
                    {"same_for_all", AugmentationDeviation::kSameForAll}});
  const Augmentation augmentation(options);
  const auto rows = [&](const char* name) {
    const torch::Tensor numbers = run.Input(name);
    const auto* const data = numbers.const_data_ptr<int64_t>();
    return std::vector<int64_t>(data, data + numbers.numel());
  };
  const int64_t epoch = run.Integer("epoch", 0);
  const std::vector<int64_t> own = rows("rows");
  Batch batch = augmentation.Changed({run.Input("x"), run.Input("y")}, own, epoch);
  if (augmentation.mixes()) {
    const Batch others = augmentation.Changed({run.Input("other_x"), run.Input("other_y")},
                                              rows("other_rows"), epoch);
    batch = augmentation.Mixed(batch, others, own, epoch);
  }
  run.Put("x", batch.x);
  run.Put("y", batch.y);
}

}  // namespace dlcheck::reference
