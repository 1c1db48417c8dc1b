#include "reference/data/tokens.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstring>

#include "fixtures/format/write_tokens.h"
#include "reference/recipe/rejection.h"

namespace dlcheck::reference {
namespace {

constexpr int64_t kWhole = 1 << 20;
constexpr int64_t kByRow = 1;

// 100 tokens, each its position: 0 to 69 train, 70 to 99 val.
TokenSet Counting(ElementType type) {
  TokenSet set;
  set.info.type = type;
  set.info.tokens = 100;
  set.info.vocabulary = type == ElementType::kUint8 ? 256 : 40000;
  set.info.train = {0, 70};
  set.info.val = {70, 100};
  for (int i = 0; i < 100; ++i) {
    const uint16_t token = static_cast<uint16_t>(type == ElementType::kUint8 ? i : 300 * i);
    uint8_t bytes[2];
    std::memcpy(bytes, &token, 2);
    set.bytes.insert(set.bytes.end(), bytes, bytes + ElementBytes(type));
  }
  return set;
}

// A file of tokens that is there for a scope. No temporary folder: libtorch exports a
// std::filesystem::remove_all of its own, which crashes.
class File {
 public:
  explicit File(const TokenSet& set)
      : path_(testing::TempDir() + "/tokens-" + std::to_string(getpid()) + ".h5") {
    EXPECT_TRUE(WriteTokens(path_, set).ok());
  }
  ~File() { unlink(path_.c_str()); }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::string CauseOf(const std::function<void()>& action) {
  try {
    action();
  } catch (const InputRejected& rejection) {
    return rejection.cause;
  }
  return "none";
}

TEST(Tokens, HaveTheNextTokenAsTheirTarget) {
  const Dataset data = LoadTokens(File(Counting(ElementType::kUint8)).path(), 8, kWhole);
  EXPECT_EQ(data.classes, 256);
  EXPECT_EQ(data.sample_shape, InputShape{8});
  EXPECT_EQ(data.train->rows(), 8);  // 64 of 70 tokens, each with a target
  EXPECT_EQ(data.val->rows(), 3);
  const Batch batch = data.val->Take({2, 0});
  EXPECT_TRUE(torch::equal(batch.x[0], torch::arange(86, 94)));
  EXPECT_TRUE(torch::equal(batch.y[0], torch::arange(87, 95)));
  EXPECT_TRUE(torch::equal(batch.x[1], torch::arange(70, 78)));
}

TEST(Tokens, UseTheLastTargetOfASplit) {
  const File file(Counting(ElementType::kUint8));
  EXPECT_EQ(LoadTokens(file.path(), 29, kWhole).val->rows(), 1);
  EXPECT_EQ(CauseOf([&] { LoadTokens(file.path(), 30, kWhole); }),
            "a split of 30 tokens is shorter than one sample of 30 and its target");
}

TEST(Tokens, AreTheSameReadWholeOrByRow) {
  for (const ElementType type : {ElementType::kUint8, ElementType::kUint16}) {
    const File file(Counting(type));
    const Dataset whole = LoadTokens(file.path(), 8, kWhole);
    const Dataset by_row = LoadTokens(file.path(), 8, kByRow);
    for (const auto& [a, b] : {std::pair{whole.train, by_row.train}, {whole.val, by_row.val}}) {
      const Batch one = a->Take({2, 1, 0, 2}), other = b->Take({2, 1, 0, 2});
      EXPECT_TRUE(torch::equal(one.x, other.x));
      EXPECT_TRUE(torch::equal(one.y, other.y));
      EXPECT_EQ(one.x.scalar_type(), torch::kInt64);
    }
  }
}

TEST(Tokens, OfTwoBytesKeepTheirValues) {
  const Dataset data = LoadTokens(File(Counting(ElementType::kUint16)).path(), 8, kWhole);
  EXPECT_TRUE(torch::equal(data.train->Take({1}).x[0], 300 * torch::arange(8, 16)));
}

TEST(Tokens, OutsideTheVocabularyAreRefusedWhenTheyAreRead) {
  TokenSet set = Counting(ElementType::kUint8);
  set.info.vocabulary = 80;
  const File file(set);
  const std::string cause = "token 80 is outside the vocabulary of 80";
  EXPECT_EQ(CauseOf([&] { LoadTokens(file.path(), 8, kWhole); }), cause);
  const Dataset by_row = LoadTokens(file.path(), 8, kByRow);
  EXPECT_EQ(CauseOf([&] { by_row.val->Take({0}); }), "none");
  EXPECT_EQ(CauseOf([&] { by_row.val->Take({0, 1}); }), cause);
}

TEST(Tokens, AreToldFromSamples) {
  EXPECT_TRUE(IsTokenData(File(Counting(ElementType::kUint8)).path()));
  EXPECT_FALSE(IsTokenData(DLCHECK_SOURCE_DIR "/fixtures/data/digits.h5"));
  EXPECT_FALSE(IsTokenData("/nowhere.h5"));
  EXPECT_EQ(CauseOf([] { LoadTokens(DLCHECK_SOURCE_DIR "/fixtures/data/digits.h5", 8, kWhole); }),
            "is HDF5, but no token stream: attribute encoding-type is not 'dlcheck-tokens'; "
            "dlcheck-data import makes one");
}

TEST(Tokens, NeedAContext) { EXPECT_THROW(LoadTokens("/nowhere.h5", 0, kWhole), UsageError); }

}  // namespace
}  // namespace dlcheck::reference
