#include "reference/data/augmentation.h"

#include <gtest/gtest.h>

#include "reference/data/data.h"

namespace dlcheck::reference {
namespace {

constexpr char kPictures[] = DLCHECK_SOURCE_DIR "/fixtures/data/digits.h5";

std::shared_ptr<const Source> Digits() {
  static const std::shared_ptr<const Source> train = LoadDataset(kPictures, std::nullopt).train;
  return train;
}

Batches::Options All() {
  Batches::Options options{.batch_size = 12, .seed = 4};
  options.augmentation = {
      .crop_padding = 1, .flip = true, .mixup = 0.4, .cutmix = 1, .seed = 7, .classes = 10};
  return options;
}

TEST(Augmentation, IsTheSameForASampleWhateverTheNumberOfRanks) {
  const Batch whole = Batches(Digits(), All()).At(3);
  for (const int64_t world : {2, 3, 5}) {
    for (int64_t rank = 0; rank < world; ++rank) {
      Batches::Options options = All();
      options.rank = rank;
      options.world = world;
      const Batch part = Batches(Digits(), options).At(3);
      const auto own = torch::indexing::Slice(rank, torch::indexing::None, world);
      EXPECT_TRUE(torch::equal(part.x, whole.x.index({own})));
      EXPECT_TRUE(torch::equal(part.y, whole.y.index({own})));
    }
  }
}

TEST(Augmentation, IsAnotherOneInTheNextEpoch) {
  Batches::Options options = All();
  options.shuffle = false;
  const Batches batches(Digits(), options);
  const Batch first = batches.At(0), second = batches.At(batches.steps_an_epoch());
  EXPECT_TRUE(torch::equal(batches.At(0).x, first.x));
  EXPECT_FALSE(torch::equal(second.x, first.x));
}

TEST(Augmentation, KeepsTheSumOfTheTargets) {
  const Batch mixed = Batches(Digits(), All()).At(0);
  EXPECT_EQ(mixed.y.sizes(), at::IntArrayRef({12, 10}));
  EXPECT_TRUE(torch::allclose(mixed.y.sum(1), torch::ones({12})));
  EXPECT_GT((mixed.y > 0).sum().item<int64_t>(), 12);
}

TEST(Augmentation, OfNothingLeavesABatchAsItIs) {
  Batches::Options options{.batch_size = 12, .seed = 4};
  const Batch plain = Batches(Digits(), options).At(1);
  options.augmentation.seed = 9;
  EXPECT_TRUE(torch::equal(Batches(Digits(), options).At(1).x, plain.x));
}

TEST(Objective, OfTwoViewsNamesThePlaceOfTheOtherView) {
  Batches::Options options{.batch_size = 4, .seed = 4};
  options.augmentation = {.crop_padding = 2, .seed = 7};
  options.objective = Objective::kContrastive;
  const Batches batches(Digits(), options);
  const Batch views = batches.At(0);
  EXPECT_EQ(views.x.sizes(), at::IntArrayRef({8, 1, 8, 8}));
  EXPECT_TRUE(torch::equal(views.y, torch::tensor({4, 5, 6, 7, 0, 1, 2, 3})));
  EXPECT_FALSE(torch::equal(views.x.slice(0, 0, 4), views.x.slice(0, 4, 8)));
}

TEST(Objective, OfNoiseIsTheNoiseThatWasAdded) {
  Batches::Options options{.batch_size = 64, .seed = 4};
  options.objective = Objective::kDiffusion;
  const Batches batches(Digits(), options);
  const Batch plain = Digits()->Take(batches.RowsOf(2, 0)), noised = batches.At(2);
  const torch::Tensor level = noised.x.slice(1, 1, 2), angle = level * (M_PI / 2);
  const torch::Tensor image = angle.cos() * plain.x + angle.sin() * noised.y;
  EXPECT_TRUE(torch::allclose(noised.x.slice(1, 0, 1), image, 1e-5, 1e-6));
  EXPECT_NEAR(noised.y.mean().item<double>(), 0, 0.05);
  EXPECT_NEAR(noised.y.std().item<double>(), 1, 0.05);
  EXPECT_NEAR(level.mean().item<double>(), 0.5, 0.1);
}

TEST(Objective, IsTheSameInEachEvaluation) {
  Batches::Options options{.batch_size = 64, .seed = 4};
  options.objective = Objective::kDiffusion;
  const Batches batches(Digits(), options);
  const Batch some = Digits()->Take({5, 6}), one = Digits()->Take({6});
  const Batch both = batches.ForEvaluation(some, {5, 6});
  EXPECT_TRUE(torch::equal(batches.ForEvaluation(some, {5, 6}).x, both.x));
  EXPECT_TRUE(torch::equal(batches.ForEvaluation(one, {6}).x, both.x.slice(0, 1, 2)));
}

}  // namespace
}  // namespace dlcheck::reference
