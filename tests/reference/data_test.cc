#include "reference/data/data.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

using testing::ElementsAre;

constexpr char kDigits[] = DLCHECK_SOURCE_DIR "/fixtures/data/digits.h5";

Batch AllOf(const Source& source) {
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < source.rows(); ++row) rows.push_back(row);
  return source.Take(rows);
}

TEST(Dataset, NormalizesByTheTrainingSplit) {
  const Dataset digits = LoadDataset(kDigits, std::nullopt);
  const torch::Tensor train = AllOf(*digits.train).x;
  EXPECT_EQ(train.sizes(), at::IntArrayRef({1257, 1, 8, 8}));
  EXPECT_EQ(AllOf(*digits.val).x.sizes(), at::IntArrayRef({360, 1, 8, 8}));
  EXPECT_EQ(digits.classes, 10);
  EXPECT_NEAR(train.mean().item<double>(), 0, 1e-5);
  EXPECT_NEAR(train.std(/*unbiased=*/false).item<double>(), 1, 1e-5);
  EXPECT_EQ(digits.mean_image.sizes(), at::IntArrayRef({1, 1, 8, 8}));
}

TEST(Dataset, CountsItsTargets) {
  const Dataset digits = LoadDataset(kDigits, std::nullopt);
  const torch::Tensor counts = CountTargets(*digits.train, digits.classes);
  const torch::Tensor targets = AllOf(*digits.train).y;
  EXPECT_EQ(counts.sum().item<int64_t>(), 1257);
  EXPECT_EQ(counts[3].item<int64_t>(), targets.eq(3).sum().item<int64_t>());
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

std::shared_ptr<const Source> Numbered(int64_t rows) {
  return std::make_shared<TensorSource>(
      Batch{torch::arange(rows, torch::kFloat32).view({rows, 1}), torch::arange(rows)});
}

Batches Make(int64_t rows, const Batches::Options& options) { return {Numbered(rows), options}; }

TEST(Batches, DependOnNothingButTheStep) {
  const Batches forwards(Numbered(10), {.batch_size = 3, .seed = 1});
  const Batches jumping(Numbered(10), {.batch_size = 3, .seed = 1});
  std::vector<torch::Tensor> seen;
  for (int64_t step = 0; step < 9; ++step) seen.push_back(forwards.At(step).y);
  for (const int64_t step : {8, 0, 4, 4, 3}) {
    EXPECT_TRUE(torch::equal(jumping.At(step).y, seen[static_cast<size_t>(step)])) << step;
  }
}

TEST(Batches, KeepSamplesAndLabelsTogether) {
  const Batches batches(Numbered(10), {.batch_size = 3, .seed = 1});
  const Batch batch = batches.At(5);
  EXPECT_TRUE(torch::equal(batch.x.view(-1), batch.y.to(torch::kFloat32)));
}

TEST(Batches, CutTheOrderOfEachEpoch) {
  const Batches batches(Numbered(10), {.batch_size = 3, .seed = 1});
  const std::vector<int64_t> order = EpochOrder(10, 1, 2);
  EXPECT_THAT(batches.RowsOf(7, 0), ElementsAre(order[3], order[4], order[5]));
  EXPECT_EQ(batches.PlaceOf(7, 0), (Batches::Place{2, 1, 0}));
}

TEST(Batches, KeepTheOrderOfTheSourceWithoutShuffling) {
  const Batches batches(Numbered(10), {.batch_size = 3, .shuffle = false});
  EXPECT_THAT(batches.RowsOf(0, 0), ElementsAre(0, 1, 2));
  EXPECT_THAT(batches.RowsOf(3, 0), ElementsAre(0, 1, 2));
}

// Rows by step and micro-batch, of one epoch without shuffling.
std::vector<std::vector<std::vector<int64_t>>> EpochOf(const Batches& batches) {
  std::vector<std::vector<std::vector<int64_t>>> windows;
  for (int64_t step = 0; step < batches.steps_an_epoch(); ++step) {
    auto& window = windows.emplace_back();
    for (int64_t micro = 0; micro < batches.MicroBatches(step); ++micro) {
      window.push_back(batches.RowsOf(step, micro));
    }
  }
  return windows;
}

TEST(Batches, DropWhatIsLessThanAWindow) {
  const Batches batches(Numbered(11), {.batch_size = 2, .accumulate = 2, .shuffle = false});
  EXPECT_THAT(EpochOf(batches), ElementsAre(ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)),
                                            ElementsAre(ElementsAre(4, 5), ElementsAre(6, 7))));
}

TEST(Batches, KeepWhatIsLessThanAWindowIfAsked) {
  const Batches batches(Numbered(11),
                        {.batch_size = 2, .accumulate = 4, .keep_last = true, .shuffle = false});
  EXPECT_THAT(EpochOf(batches), ElementsAre(ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3),
                                                        ElementsAre(4, 5), ElementsAre(6, 7)),
                                            ElementsAre(ElementsAre(8, 9), ElementsAre(10))));
  EXPECT_EQ(batches.MicroBatches(3), 2);
  EXPECT_EQ(batches.PlaceOf(3, 1), (Batches::Place{1, 1, 1}));
  EXPECT_EQ(batches.At(3, 1).y.size(0), 1);
}

TEST(Batches, GiveRanksPartsOfTheSameGlobalBatch) {
  const Batches whole(Numbered(50), {.batch_size = 12, .accumulate = 2, .seed = 4});
  for (const int64_t world : {2, 3, 4, 5}) {
    for (const auto& [step, micro] : {std::pair{0, 0}, {0, 1}, {5, 1}}) {
      std::vector<int64_t> together(12);
      for (int64_t rank = 0; rank < world; ++rank) {
        const Batches part(
            Numbered(50),
            {.batch_size = 12, .accumulate = 2, .seed = 4, .rank = rank, .world = world});
        const std::vector<int64_t> rows = part.RowsOf(step, micro);
        ASSERT_EQ(static_cast<int64_t>(rows.size()), 12 / world + (rank < 12 % world ? 1 : 0));
        for (size_t i = 0; i < rows.size(); ++i) {
          together[static_cast<size_t>(rank) + i * static_cast<size_t>(world)] = rows[i];
        }
      }
      EXPECT_EQ(together, whole.RowsOf(step, micro)) << world;
    }
  }
}

TEST(Batches, GiveEveryRankARowOrNone) {
  for (const int64_t rows : {8, 9, 10, 11}) {
    std::set<int64_t> seen;
    for (int64_t rank = 0; rank < 2; ++rank) {
      const Batches part(Numbered(rows),
                         {.batch_size = 4, .keep_last = true, .rank = rank, .world = 2});
      EXPECT_EQ(part.steps_an_epoch(), rows < 10 ? 2 : 3);
      for (int64_t step = 0; step < part.steps_an_epoch(); ++step) {
        const std::vector<int64_t> taken = part.RowsOf(step, 0);
        EXPECT_FALSE(taken.empty());
        seen.insert(taken.begin(), taken.end());
      }
    }
    EXPECT_EQ(static_cast<int64_t>(seen.size()), rows == 9 ? 8 : rows);
  }
}

TEST(Batches, RefuseAnEpochWithoutAStep) {
  EXPECT_THROW(Make(10, {.batch_size = 11}), UsageError);
  EXPECT_THROW(Make(10, {.batch_size = 3, .accumulate = 4}), UsageError);
  EXPECT_NO_THROW(Make(10, {.batch_size = 11, .keep_last = true}));
}

TEST(Batches, RefuseSizesAndRanksThatMakeNoSense) {
  EXPECT_THROW(Make(10, {.batch_size = 0}), UsageError);
  EXPECT_THROW(Make(10, {.accumulate = 0}), UsageError);
  EXPECT_THROW(Make(10, {.batch_size = 2, .rank = 2, .world = 2}), UsageError);
  EXPECT_THROW(Make(10, {.batch_size = 2, .world = 3}), UsageError);
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

TEST(Prefetch, GivesTheSameBatchesInAnyOrder) {
  const Batches batches(Numbered(100), {.batch_size = 7, .accumulate = 3, .keep_last = true});
  std::vector<std::pair<int64_t, int64_t>> places;
  for (int64_t step = 0; step < 20; ++step) {
    for (int64_t micro = 0; micro < batches.MicroBatches(step); ++micro) {
      places.emplace_back(step, micro);
    }
  }
  for (const auto& [step, micro] : {std::pair{3, 0}, {3, 0}, {0, 1}, {900, 2}, {19, 0}}) {
    places.emplace_back(step, micro);
  }
  for (const int64_t threads : {0, 1, 4}) {
    Prefetch prefetch(batches, threads, 5);
    for (const auto& [step, micro] : places) {
      EXPECT_TRUE(torch::equal(prefetch.At(step, micro).y, batches.At(step, micro).y))
          << threads << ' ' << step << ' ' << micro;
    }
  }
}

// Fails for one row.
class DifficultSource : public Source {
 public:
  int64_t rows() const override { return 10; }
  Batch Take(const std::vector<int64_t>& rows) const override {
    if (rows.front() == 6) throw std::runtime_error("row 6 cannot be read");
    return {torch::tensor(rows), torch::tensor(rows)};
  }
};

TEST(Prefetch, HandsOnWhatTheSourceThrows) {
  const Batches batches(std::make_shared<DifficultSource>(), {.batch_size = 2, .shuffle = false});
  Prefetch prefetch(batches, 2, 4);
  for (int64_t step = 0; step < 3; ++step) prefetch.At(step);
  EXPECT_THAT([&] { prefetch.At(3); },
              testing::ThrowsMessage<std::runtime_error>("row 6 cannot be read"));
  EXPECT_TRUE(torch::equal(prefetch.At(4).y, batches.At(4).y));
}

TEST(Prefetch, EndsWithBatchesThatNobodyTook) {
  const Batches batches(Numbered(1000), {.batch_size = 10});
  for (int64_t round = 0; round < 50; ++round) {
    Prefetch prefetch(batches, 3, 16);
    prefetch.At(round);
  }
}

}  // namespace
}  // namespace dlcheck::reference
