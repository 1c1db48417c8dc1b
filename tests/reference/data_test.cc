#include "reference/data/data.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr char kDigits[] = DLCHECK_SOURCE_DIR "/fixtures/digits.h5";

TEST(Dataset, NormalisesByTheTrainingSplit) {
  const Dataset digits = LoadDataset(kDigits, std::nullopt);
  EXPECT_EQ(digits.train.x.sizes(), at::IntArrayRef({1257, 1, 8, 8}));
  EXPECT_EQ(digits.val.x.sizes(), at::IntArrayRef({360, 1, 8, 8}));
  EXPECT_EQ(digits.classes, 10);
  EXPECT_NEAR(digits.train.x.mean().item<double>(), 0, 1e-5);
  EXPECT_NEAR(digits.train.x.std(/*unbiased=*/false).item<double>(), 1, 1e-5);
  EXPECT_EQ(digits.mean_image.sizes(), at::IntArrayRef({1, 1, 8, 8}));
}

TEST(Dataset, NamesFileAndCause) {
  try {
    LoadDataset("/nowhere.h5", std::nullopt);
    FAIL() << "was read";
  } catch (const InputRejected& rejection) {
    EXPECT_EQ(rejection.file, "/nowhere.h5");
    EXPECT_EQ(rejection.cause, "no such file");
  }
}

Batch Numbered(int64_t rows) {
  return {torch::arange(rows, torch::kFloat32).view({rows, 1}), torch::arange(rows)};
}

TEST(Batches, DependOnNothingButTheStep) {
  Batches forwards(Numbered(10), 3, 1), jumping(Numbered(10), 3, 1);
  std::vector<torch::Tensor> seen;
  for (int64_t step = 0; step < 9; ++step) seen.push_back(forwards.At(step).y);
  for (const int64_t step : {8, 0, 4, 4, 3}) {
    EXPECT_TRUE(torch::equal(jumping.At(step).y, seen[static_cast<size_t>(step)])) << step;
  }
}

TEST(Batches, KeepSamplesAndLabelsTogether) {
  Batches batches(Numbered(10), 3, 1);
  const Batch batch = batches.At(5);
  EXPECT_TRUE(torch::equal(batch.x.view(-1), batch.y.to(torch::kFloat32)));
}

TEST(Batches, MayNotBeLargerThanTheSplit) {
  EXPECT_THROW(Batches(Numbered(10), 11, 1), UsageError);
}

TEST(EpochOrder, IsAnotherPermutationEachEpochAndSeed) {
  const std::vector<int64_t> first = EpochOrder(100, 1, 0);
  EXPECT_EQ(EpochOrder(100, 1, 0), first);
  EXPECT_NE(EpochOrder(100, 1, 1), first);
  EXPECT_NE(EpochOrder(100, 2, 0), first);
  std::vector<int64_t> sorted = first;
  std::sort(sorted.begin(), sorted.end());
  for (int64_t i = 0; i < 100; ++i) EXPECT_EQ(sorted[static_cast<size_t>(i)], i);
}

}  // namespace
}  // namespace dlcheck::reference
