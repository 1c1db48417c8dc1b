// Data that is read in windows: the rows of reading whole, in another order, in bounded memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <limits>
#include <set>

#include "checks/records/digest.h"
#include "fixtures/format/write_fixture.h"
#include "fixtures/format/write_tokens.h"
#include "reference/data/data.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kRows = 5000;
constexpr int64_t kElements = 48;  // of a row
// x of bytes is larger than this, in which 32 windows of 64 rows fit.
constexpr int64_t kLimit = 32 * 64 * kElements;

// A file that is gone after a scope. No temporary folder: libtorch exports a
// std::filesystem::remove_all of its own, which crashes.
class WindowsFile {
 public:
  explicit WindowsFile(const Fixture& fixture) { EXPECT_TRUE(WriteFixture(path_, fixture).ok()); }
  explicit WindowsFile(const TokenSet& tokens) { EXPECT_TRUE(WriteTokens(path_, tokens).ok()); }
  ~WindowsFile() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_ = testing::TempDir() + "/windows-" + std::to_string(getpid()) + ".h5";
};

// Elements without a pattern; seven of ten rows train, without a pattern either.
Fixture Samples(ElementType type = ElementType::kUint8) {
  Fixture fixture;
  fixture.name = fixture.version = fixture.task = fixture.license = "made";
  fixture.source = fixture.generator = fixture.created_by = "tests";
  fixture.x_type = type;
  fixture.x_layout = "NCHW";
  fixture.sample_shape = {3, 4, 4};
  fixture.class_names = {"a", "b", "c"};
  fixture.splits.policy = "random";
  for (int64_t i = 0; i < kRows * kElements; ++i) {
    const uint64_t random = SplitMix64(static_cast<uint64_t>(i)) >> 32;
    const float fraction = static_cast<float>(random) / 7;
    const auto* at = type == ElementType::kFloat32 ? reinterpret_cast<const uint8_t*>(&fraction)
                                                   : reinterpret_cast<const uint8_t*>(&random);
    fixture.x.insert(fixture.x.end(), at, at + ElementBytes(type));
  }
  for (int64_t row = 0; row < kRows; ++row) {
    const uint64_t random = SplitMix64(static_cast<uint64_t>(row) + (uint64_t{1} << 50));
    fixture.y.push_back(static_cast<int64_t>(random >> 32) % 3);
    fixture.id.push_back(static_cast<uint64_t>(row));
    auto& split = random % 10 < 7 ? fixture.splits.train : fixture.splits.val;
    split.push_back(static_cast<uint32_t>(row));
  }
  fixture.statistics = TrainingStatistics(fixture);
  return fixture;
}

// 40,000 tokens without a pattern.
TokenSet Tokens(ElementType type) {
  TokenSet set;
  set.info.type = type;
  set.info.tokens = 40000;
  set.info.vocabulary = 256;
  set.info.train = {0, 30001};
  set.info.val = {30001, 40000};
  for (uint64_t i = 0; i < 40000; ++i) {
    set.bytes.push_back(static_cast<uint8_t>(SplitMix64(i) >> 32));
    if (type == ElementType::kUint16) set.bytes.push_back(0);
  }
  return set;
}

std::vector<int64_t> AllRows(const Source& source) {
  std::vector<int64_t> rows(static_cast<size_t>(source.rows()));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  return rows;
}

void ExpectSameRows(const Source& whole, const Source& windows) {
  ASSERT_EQ(whole.rows(), windows.rows());
  const int64_t last = whole.rows() - 1;
  for (const auto& rows : {AllRows(whole), {last, 3, 0, 3, 70, last}, {5}, EpochOrder(70, 1, 1)}) {
    const Batch one = whole.Take(rows), other = windows.Take(rows);
    EXPECT_TRUE(torch::equal(one.x, other.x));
    EXPECT_TRUE(torch::equal(one.y, other.y));
    EXPECT_TRUE(torch::equal(one.y, windows.TakeTargets(rows)));
    EXPECT_EQ(one.x.scalar_type(), other.x.scalar_type());
    EXPECT_EQ(one.y.scalar_type(), other.y.scalar_type());
  }
}

std::string CauseOf(const std::string& path, const std::function<void()>& action) {
  try {
    action();
  } catch (const InputRejected& rejection) {
    EXPECT_EQ(rejection.file, path);
    return rejection.cause;
  }
  return "none";
}

TEST(Windows, GiveTheRowsThatReadingWholeGives) {
  for (const ElementType type :
       {ElementType::kUint8, ElementType::kUint16, ElementType::kInt32, ElementType::kUint32,
        ElementType::kInt64, ElementType::kUint64, ElementType::kFloat32}) {
    const WindowsFile file(Samples(type));
    const Dataset whole = LoadDataset(file.path(), std::nullopt);
    ASSERT_EQ(whole.windows, nullptr);
    // Down to a cache that holds no row.
    for (const int64_t limit : {kLimit, int64_t{10000}, int64_t{1}}) {
      const Dataset windows = LoadDataset(file.path(), std::nullopt, limit);
      ASSERT_NE(windows.windows, nullptr);
      ExpectSameRows(*whole.train, *windows.train);
      ExpectSameRows(*whole.val, *windows.val);
      EXPECT_EQ(windows.sample_shape, whole.sample_shape);
      EXPECT_EQ(windows.classes, whole.classes);
      EXPECT_TRUE(torch::allclose(windows.mean_image, whole.mean_image, 1e-5, 1e-6));
      EXPECT_EQ(windows.mean_image.sizes(), whole.mean_image.sizes());
      EXPECT_EQ(windows.mean_image.scalar_type(), torch::kFloat32);
    }
  }
}

TEST(Windows, TakeTheNormalizationThatIsAskedFor) {
  const WindowsFile file(Samples());
  const Normalization normal{10, 3};
  ExpectSameRows(*LoadDataset(file.path(), normal).train,
                 *LoadDataset(file.path(), normal, kLimit).train);
}

// All rows at once, as the definition says.
TEST(Windows, AndWholeDataAreNormalizedBitForBitAsAllRowsAtOnce) {
  Fixture fixture = Samples(ElementType::kFloat32);
  const WindowsFile file(fixture);
  const Statistics& known = fixture.statistics;
  const torch::Tensor raw =
      torch::from_blob(fixture.x.data(), {kRows, 3, 4, 4}, torch::kFloat32).to(torch::kFloat64);
  const std::vector<int64_t> train(fixture.splits.train.begin(), fixture.splits.train.end());
  const torch::Tensor expected = ((raw - known.mean) / known.standard_deviation)
                                     .to(torch::kFloat32)
                                     .index_select(0, torch::tensor(train));
  for (const int64_t limit : {kMostWholeBytes, kLimit}) {
    const Dataset data = LoadDataset(file.path(), std::nullopt, limit);
    EXPECT_TRUE(torch::equal(data.train->Take(AllRows(*data.train)).x, expected));
  }
  EXPECT_TRUE(torch::equal(LoadDataset(file.path(), std::nullopt).mean_image,
                           expected.mean(0, /*keepdim=*/true)));
}

TEST(Windows, AreForDataAboveTheLimit) {
  const WindowsFile file(Samples());
  EXPECT_EQ(LoadDataset(file.path(), std::nullopt, kRows * kElements).windows, nullptr);
  EXPECT_NE(LoadDataset(file.path(), std::nullopt, kRows * kElements - 1).windows, nullptr);
}

TEST(Windows, CountTargetsWithoutReadingSamples) {
  const WindowsFile file(Samples());
  const Dataset windows = LoadDataset(file.path(), std::nullopt, kLimit);
  EXPECT_TRUE(torch::equal(CountTargets(*windows.train, 3),
                           CountTargets(*LoadDataset(file.path(), std::nullopt).train, 3)));
  EXPECT_EQ(windows.windows->reads(), 0);
}

std::vector<int64_t> EpochOf(const Batches& batches, int64_t epoch) {
  std::vector<int64_t> rows;
  for (int64_t step = 0; step < batches.steps_an_epoch(); ++step) {
    for (const int64_t row : batches.RowsOf(epoch * batches.steps_an_epoch() + step, 0)) {
      rows.push_back(row);
    }
  }
  return rows;
}

// Holds that epochs take every row of `source` once, in an order of their own that the seed gives.
void ExpectQuasiRandomEpochs(const std::shared_ptr<const Source>& source) {
  const auto batches = [&](uint64_t seed) {
    return std::make_unique<Batches>(
        source, Batches::Options{.keep_last = true, .shuffle = true, .seed = seed});
  };
  const auto ours = batches(1);
  const std::vector<int64_t> first = EpochOf(*ours, 0), second = EpochOf(*ours, 1);
  EXPECT_THAT(first, testing::UnorderedElementsAreArray(AllRows(*source)));
  EXPECT_THAT(second, testing::UnorderedElementsAreArray(AllRows(*source)));
  EXPECT_NE(first, second);
  EXPECT_EQ(EpochOf(*batches(1), 1), second);
  EXPECT_EQ(EpochOf(*ours, 0), first);
  EXPECT_NE(EpochOf(*batches(2), 0), first);
  EXPECT_NE(first, EpochOrder(source->rows(), 1, 0));
  EXPECT_EQ(first, WindowedOrder(source->WindowEnds(), 1, 0));
}

TEST(Windows, AreTakenInAnOrderOfTheSeedAndTheEpoch) {
  const WindowsFile samples(Samples());
  ExpectQuasiRandomEpochs(LoadDataset(samples.path(), std::nullopt, kLimit).train);
  const WindowsFile tokens(Tokens(ElementType::kUint8));
  ExpectQuasiRandomEpochs(LoadTokens(tokens.path(), 20, 29000).train);
}

TEST(Windows, KeepTheOrderOfTheSourceWithoutShuffling) {
  const WindowsFile file(Samples());
  const Batches batches(LoadDataset(file.path(), std::nullopt, kLimit).train,
                        {.batch_size = 100, .keep_last = true, .shuffle = false});
  const std::vector<int64_t> rows = EpochOf(batches, 0);
  EXPECT_TRUE(std::is_sorted(rows.begin(), rows.end()));
}

TEST(Windows, AreReadOnceAnEpochAndHoldNoMoreThanTheLimit) {
  const WindowsFile file(Samples());
  const Dataset data = LoadDataset(file.path(), std::nullopt, kLimit);
  const auto windows = static_cast<int64_t>(data.train->WindowEnds().size());
  EXPECT_EQ(windows, (kRows + 63) / 64);
  const Batches batches(data.train, {.batch_size = 100, .keep_last = true, .seed = 3});
  for (int64_t step = 0; step < batches.steps_an_epoch(); ++step) {
    batches.At(step);
    EXPECT_LE(data.windows->held_bytes(), kLimit);
  }
  EXPECT_EQ(data.windows->reads(), windows);
  EXPECT_GT(data.windows->held_bytes(), kLimit / 2);
}

TEST(Windows, BecomeSmallerWhereTheLimitIsTight) {
  EXPECT_EQ(RowsOfAWindow(100, 1 << 30), 64);
  EXPECT_EQ(RowsOfAWindow(100, 2 * kWindowsTogether * 100 * 10), 10);
  EXPECT_EQ(RowsOfAWindow(100, 99), 1);
  const WindowsFile file(Samples());
  const Dataset data = LoadDataset(file.path(), std::nullopt, 3 * kElements);
  const Batches batches(data.train, {.batch_size = 100, .keep_last = true, .seed = 3});
  for (int64_t step = 0; step < batches.steps_an_epoch(); ++step) batches.At(step);
  EXPECT_EQ(data.windows->reads(), data.train->rows());
  EXPECT_LE(data.windows->held_bytes(), 3 * kElements);
}

TEST(Windows, MixRowsOfManyPlaces) {
  const WindowsFile file(Samples());
  const Dataset data = LoadDataset(file.path(), std::nullopt, kLimit);
  const std::vector<int64_t> ends = data.train->WindowEnds();
  const Batches batches(data.train, {.batch_size = 64, .seed = 5});
  for (int64_t step = 0; step < 10; ++step) {
    std::set<int64_t> places;
    for (const int64_t row : batches.RowsOf(step, 0)) {
      places.insert(std::upper_bound(ends.begin(), ends.end(), row) - ends.begin());
    }
    EXPECT_GE(places.size(), 10u) << step;
    EXPECT_LE(places.size(), 2 * static_cast<size_t>(kWindowsTogether)) << step;
  }
}

TEST(Windows, AreTheSameForManyThreads) {
  const WindowsFile file(Samples());
  const Dataset data = LoadDataset(file.path(), std::nullopt, kLimit);
  const Batches batches(data.train, {.batch_size = 50, .seed = 3});
  const Dataset other = LoadDataset(file.path(), std::nullopt, kLimit);
  const Batches expected(other.train, {.batch_size = 50, .seed = 3});
  Prefetch prefetch(batches, 4, 6);
  for (int64_t step = 0; step < 2 * batches.steps_an_epoch(); ++step) {
    const Batch batch = prefetch.At(step), wanted = expected.At(step);
    ASSERT_TRUE(torch::equal(batch.x, wanted.x)) << step;
    ASSERT_TRUE(torch::equal(batch.y, wanted.y)) << step;
    EXPECT_LE(data.windows->held_bytes(), kLimit);
  }
}

// Overwrites the file from `first` on with ones.
void Overwrite(const std::string& path, std::streamoff first, size_t bytes) {
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  file.seekp(first);
  file << std::string(bytes, '\1');
  EXPECT_TRUE(file.flush().good());
}

TEST(Windows, OfAFileThatWasDamagedAreRefused) {
  const Fixture fixture = Samples(ElementType::kFloat32);
  const WindowsFile file(fixture);
  const Dataset data = LoadDataset(file.path(), std::nullopt, kLimit);
  std::ifstream stream(file.path(), std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  const size_t x = bytes.find(std::string(fixture.x.begin(), fixture.x.begin() + 400));
  ASSERT_NE(x, std::string::npos);
  Overwrite(file.path(), static_cast<std::streamoff>(x + 4000 * fixture.row_bytes()), 400);
  const std::vector<int64_t> all = AllRows(*data.train);
  EXPECT_EQ(CauseOf(file.path(), [&] { data.train->Take({0, 1, 2}); }), "none");
  EXPECT_THAT(CauseOf(file.path(), [&] { data.train->Take(all); }),
              "samples/x row 4000 has changed since the file was opened");
  ASSERT_EQ(truncate(file.path().c_str(), static_cast<off_t>(x + 2000)), 0);
  EXPECT_EQ(CauseOf(file.path(), [&] { data.train->Take({1000}); }),
            "samples/x cannot be read: the file is truncated or damaged");
}

TEST(Windows, OfTokensThatWereCutOffAreRefused) {
  const WindowsFile file(Tokens(ElementType::kUint8));
  const Dataset data = LoadTokens(file.path(), 20, 1000);
  ASSERT_EQ(truncate(file.path().c_str(), 10000), 0);
  EXPECT_EQ(CauseOf(file.path(), [&] { data.train->Take({1200}); }),
            "tokens cannot be read: the file is truncated or damaged");
}

TEST(Windows, OfHostileFilesAreRefusedAsWholeOnesAre) {
  std::vector<Fixture> broken(3, Samples(ElementType::kFloat32));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  std::memcpy(&broken[0].x[4321 * kElements * 4], &nan, 4);
  broken[1].y[7] = 3;
  broken[2].splits.val.clear();
  for (const Fixture& fixture : broken) {
    const WindowsFile file(fixture);
    const std::string cause = CauseOf(file.path(), [&] { LoadDataset(file.path(), std::nullopt); });
    EXPECT_NE(cause, "none");
    EXPECT_EQ(CauseOf(file.path(), [&] { LoadDataset(file.path(), std::nullopt, kLimit); }), cause);
  }
}

TEST(Windows, OfTokensGiveTheRowsThatReadingWholeGives) {
  for (const ElementType type : {ElementType::kUint8, ElementType::kUint16}) {
    const WindowsFile file(Tokens(type));
    const Dataset whole = LoadTokens(file.path(), 20, 1 << 20);
    EXPECT_EQ(whole.windows, nullptr);
    EXPECT_TRUE(whole.train->WindowEnds().empty());
    for (const int64_t limit : {29000, 9000, 1}) {
      const Dataset windows = LoadTokens(file.path(), 20, limit);
      ASSERT_NE(windows.windows, nullptr);
      ExpectSameRows(*whole.train, *windows.train);
      ExpectSameRows(*whole.val, *windows.val);
      EXPECT_LE(windows.windows->held_bytes(), limit);
      EXPECT_EQ(windows.train->WindowEnds().back(), windows.train->rows());
    }
  }
}

TEST(Windows, OfTokensAreReadOnceAnEpoch) {
  const WindowsFile file(Tokens(ElementType::kUint8));
  const Dataset data = LoadTokens(file.path(), 5, 29000);
  const Batches batches(data.train, {.batch_size = 100, .keep_last = true, .seed = 3});
  for (int64_t step = 0; step < batches.steps_an_epoch(); ++step) batches.At(step);
  EXPECT_EQ(data.windows->reads(), 94);  // of 64 of 6000 rows
}

torch::Tensor Window(int64_t bytes) { return torch::zeros({bytes}, torch::kUInt8); }

TEST(WindowCache, KeepsTheWindowsThatWereTakenLast) {
  WindowCache cache(100);
  const auto take = [&](int64_t first, int64_t bytes) {
    cache.At(first, bytes, [&] { return Window(bytes); });
    return cache.held_bytes();
  };
  EXPECT_EQ(take(1, 40), 40);
  EXPECT_EQ(take(2, 40), 80);
  EXPECT_EQ(take(1, 40), 80);
  EXPECT_EQ(take(3, 50), 90);  // without 2
  EXPECT_EQ(cache.reads(), 3);
  EXPECT_EQ(take(1, 40), 90);
  EXPECT_EQ(cache.reads(), 3);
  EXPECT_EQ(take(2, 40), 80);  // without 3
  EXPECT_EQ(take(4, 100), 100);
  EXPECT_EQ(take(5, 101), 100);  // which is not kept
  EXPECT_EQ(take(5, 101), 100);
  EXPECT_EQ(cache.reads(), 7);
}

TEST(WindowCache, KeepsNothingOfAReadThatFails) {
  WindowCache cache(100);
  const auto fail = []() -> torch::Tensor { throw std::runtime_error("unreadable"); };
  EXPECT_THROW(cache.At(1, 10, fail), std::runtime_error);
  EXPECT_EQ(cache.held_bytes(), 0);
  EXPECT_EQ(cache.At(1, 10, [] { return Window(10); }).numel(), 10);
}

// Worked out apart from this code: runs that were made before must not change.
TEST(EpochOrder, IsWhatItAlwaysWas) {
  EXPECT_THAT(EpochOrder(10, 1, 2), testing::ElementsAre(6, 1, 0, 2, 4, 5, 9, 3, 7, 8));
  EXPECT_THAT(EpochOrder(10, 1, 3), testing::ElementsAre(2, 5, 1, 7, 9, 4, 0, 3, 8, 6));
}

TEST(WindowedOrder, KeepsTheRowsOfAGroupOfWindowsTogether) {
  std::vector<int64_t> ends;
  for (int64_t end = 3; end <= 300; end += 3) ends.push_back(end);
  const std::vector<int64_t> order = WindowedOrder(ends, 1, 0);
  ASSERT_EQ(order.size(), 300u);
  std::set<int64_t> seen;
  for (size_t first = 0; first < order.size(); first += 3 * kWindowsTogether) {
    const size_t last = std::min(first + 3 * kWindowsTogether, order.size());
    std::set<int64_t> windows;
    for (size_t i = first; i < last; ++i) windows.insert(order[i] / 3);
    EXPECT_EQ(windows.size(), (last - first) / 3);
    seen.insert(windows.begin(), windows.end());
  }
  EXPECT_EQ(seen.size(), 100u);
  EXPECT_TRUE(WindowedOrder({}, 1, 0).empty());
}

}  // namespace
}  // namespace dlcheck::reference
