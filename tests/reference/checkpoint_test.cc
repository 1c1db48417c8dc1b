// Checkpoints that are not what they should be: a line with file and cause, and nothing is lost.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <fstream>

#include "reference/checkpoint/checkpoint_folder.h"
#include "reference/checkpoint/durable_file.h"
#include "reference/checkpoint/snapshot.h"
#include "reference/recipe/rejection.h"
#include "reference/training/shared_checkpoint.h"

namespace dlcheck::reference {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Checkpoints : public testing::Test {
 protected:
  Checkpoints() : path_(testing::TempDir() + "/checkpoints"), folder_(path_) {
    for (const std::string& name : NamesIn(path_)) RemoveFolder(path_ + "/" + name);
    RemoveFolder(path_);
  }

  std::string Write(int64_t step, int64_t micro = 0) {
    Manifest manifest;
    manifest.step = step;
    manifest.micro = micro;
    manifest.recipe = DecidingKeys(Recipe());
    return WriteTogether(Ranks(), folder_, manifest,
                         {{"model/weight", torch::full({2, 3}, 1.0 * step)}});
  }
  std::vector<std::string> Names() const {
    std::vector<std::string> names;
    for (const auto& place : folder_.List()) names.push_back(place.name);
    return names;
  }
  std::string RefusalOf(const Recipe& recipe = {}) const {
    try {
      folder_.Newest(DecidingKeys(recipe));
    } catch (const InputRejected& rejected) {
      return rejected.what();
    }
    return "accepted";
  }

  std::string path_;
  CheckpointFolder folder_;
};

void Overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TEST_F(Checkpoints, GiveBackWhatWasWritten) {
  EXPECT_FALSE(folder_.Newest(DecidingKeys({})));
  Write(5);
  Write(7);
  const auto newest = folder_.Newest(DecidingKeys({}));
  EXPECT_EQ(newest->manifest.step, 7);
  EXPECT_TRUE(torch::equal(newest->state.at("model/weight"), torch::full({2, 3}, 7.0)));
}

TEST_F(Checkpoints, InsideAWindowComeAfterTheStepBeforeIt) {
  Write(5, 2);
  Write(5);
  Write(5, 11);
  EXPECT_THAT(Names(),
              ElementsAre("step-000000005", "step-000000005-micro-2", "step-000000005-micro-11"));
}

TEST_F(Checkpoints, OfOnePlaceTakeEachOthersPlace) {
  Write(5);
  Write(5);
  EXPECT_THAT(NamesIn(path_), ElementsAre("step-000000005"));
  EXPECT_TRUE(folder_.Newest(DecidingKeys({})));
}

TEST_F(Checkpoints, KeepTheNewestAndTheBest) {
  for (const int64_t step : {1, 2, 3, 4, 5}) Write(step);
  folder_.Prune(2, {1, 3, 17});
  EXPECT_THAT(Names(),
              ElementsAre("step-000000001", "step-000000003", "step-000000004", "step-000000005"));
  EXPECT_EQ(NamesIn(path_).size(), 4u) << "something was left behind";
}

TEST_F(Checkpoints, NotFinishedOnesAreNoCheckpoints) {
  Write(5);
  MakeFolder(path_ + "/step-000000009.unfinished");
  MakeFolder(path_ + "/step-000000003.removed");
  MakeFolder(path_ + "/notes");
  EXPECT_THAT(Names(), ElementsAre("step-000000005"));
}

TEST_F(Checkpoints, PruningReachesNothingElse) {
  Write(1);
  const std::string elsewhere = testing::TempDir() + "/elsewhere";
  MakeFolder(elsewhere);
  Overwrite(elsewhere + "/state.safetensors", "another run's");
  ASSERT_EQ(symlink(elsewhere.c_str(), (path_ + "/step-000000002").c_str()), 0);
  for (const char* name : {"/step-5", "/step- 3", "/step--00000004", "/step-000000003"}) {
    MakeFolder(path_ + name);
    Overwrite(path_ + name + "/notes", "precious");
  }
  Write(9);
  folder_.Prune(1, {});
  EXPECT_EQ(ReadWhole(elsewhere + "/state.safetensors"), "another run's");
  for (const char* name : {"/step-5", "/step- 3", "/step--00000004", "/step-000000003"}) {
    EXPECT_EQ(ReadWhole(path_ + name + "/notes"), "precious");
    RemoveFolder(path_ + name);
  }
}

TEST_F(Checkpoints, PruningTakesWhatKilledRunsLeft) {
  Write(1);
  MakeFolder(path_ + "/step-000000009.unfinished");
  MakeFolder(path_ + "/step-000000003.removed");
  MakeFolder(path_ + "/notes.removed");
  folder_.Prune(1, {});
  EXPECT_THAT(NamesIn(path_), testing::UnorderedElementsAre("step-000000001", "notes.removed"));
  RemoveFolder(path_ + "/notes.removed");
}

TEST_F(Checkpoints, WithAnyFlippedBitAreRefusedByName) {
  Write(3);
  const std::string newest = Write(5);
  for (const char* file : {"/state.safetensors", "/manifest.json"}) {
    const std::string bytes = ReadWhole(newest + file);
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string flipped = bytes;
      flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
      Overwrite(newest + file, flipped);
      const std::string refusal = RefusalOf();
      // White space of the manifest carries nothing.
      const bool is_blank =
          std::string(file) == "/manifest.json" && (bytes[i] == ' ' || bytes[i] == '\n');
      if (is_blank && refusal == "accepted") continue;
      EXPECT_THAT(refusal, HasSubstr(newest)) << file << " byte " << i;
      EXPECT_THAT(refusal, HasSubstr("step-000000003, is untouched")) << file << " byte " << i;
    }
    Overwrite(newest + file, bytes);
  }
  EXPECT_EQ(RefusalOf(), "accepted");
}

TEST_F(Checkpoints, CutOffAnywhereAreRefused) {
  const std::string newest = Write(5);
  for (const char* file : {"/state.safetensors", "/manifest.json"}) {
    const std::string bytes = ReadWhole(newest + file);
    // The last byte of the manifest is its newline.
    for (size_t length = 0; length + 1 < bytes.size(); ++length) {
      Overwrite(newest + file, bytes.substr(0, length));
      EXPECT_THAT(RefusalOf(), HasSubstr(newest)) << file << " cut to " << length;
    }
    Overwrite(newest + file, bytes);
  }
}

TEST_F(Checkpoints, WithoutAFileAreRefused) {
  for (const char* file : {"/state.safetensors", "/manifest.json"}) {
    const std::string newest = Write(5);
    ASSERT_EQ(std::remove((newest + file).c_str()), 0);
    EXPECT_THAT(RefusalOf(), HasSubstr(file + std::string("': No such file")));
  }
}

TEST_F(Checkpoints, OfAnotherRecipeAreRefusedWithTheKey) {
  Write(5);
  Recipe recipe;
  recipe.dropout = 0.5;
  EXPECT_THAT(RefusalOf(recipe), HasSubstr("dropout was '0' and is '0.5' now"));
}

TEST_F(Checkpoints, ThatCannotBeWrittenLeaveTheOthers) {
  Write(3);
  MakeFolders(path_ + "/step-000000005.unfinished/state.safetensors");  // a folder in the way
  EXPECT_THROW(Write(5), SavingFailed);
  RemoveFolder(path_ + "/step-000000005.unfinished/state.safetensors");
  RemoveFolder(path_ + "/step-000000005.unfinished");
  EXPECT_THAT(Names(), ElementsAre("step-000000003"));
  EXPECT_EQ(RefusalOf(), "accepted");
}

// A file whose digests are right, because somebody made it so.
std::string RefusalOfTensors(const std::string& bytes) {
  try {
    TensorsOf("x", bytes);
  } catch (const InputRejected& rejected) {
    return rejected.cause;
  }
  return "accepted";
}

std::string WithHeader(const std::string& header, size_t elements) {
  std::string bytes(8, '\0');
  bytes[0] = static_cast<char>(header.size());
  return bytes + header + std::string(elements, 'x');
}

TEST(TensorFile, RefusesWhatDoesNotFitItsBytes) {
  const auto entry = [](const std::string& type, const std::string& shape,
                        const std::string& offsets) {
    return R"({"w":{"dtype":")" + type + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets +
           "}}";
  };
  EXPECT_EQ(RefusalOfTensors(WithHeader(entry("F32", "[2]", "[0,8]"), 8)), "accepted");
  EXPECT_THAT(RefusalOfTensors(WithHeader(entry("F32", "[2]", "[0,8]"), 7)), HasSubstr("cut off"));
  EXPECT_THAT(RefusalOfTensors(WithHeader(entry("F32", "[2]", "[4,8]"), 8)), HasSubstr("bytes"));
  EXPECT_THAT(RefusalOfTensors(WithHeader(entry("F32", "[2]", "[8,0]"), 8)), HasSubstr("cut off"));
  EXPECT_THAT(RefusalOfTensors(WithHeader(entry("F32", "[-2]", "[0,8]"), 8)), HasSubstr("shape"));
  EXPECT_THAT(RefusalOfTensors(WithHeader(entry("F32", "[4611686018427387904,4]", "[0,8]"), 8)),
              HasSubstr("shape"));
  EXPECT_THAT(RefusalOfTensors(WithHeader(entry("F99", "[2]", "[0,8]"), 8)), HasSubstr("type"));
  EXPECT_THAT(RefusalOfTensors(WithHeader(R"({"w":{"dtype":3}})", 8)), HasSubstr("no tensor"));
  EXPECT_THAT(RefusalOfTensors(WithHeader("[]", 0)), HasSubstr("no JSON object"));
  EXPECT_THAT(RefusalOfTensors("abc"), HasSubstr("first 8 bytes"));
  EXPECT_THAT(RefusalOfTensors(std::string(8, '\xff')), HasSubstr("header"));
}

TEST(TensorFile, HoldsEveryTypeToTheLastBit) {
  NamedTensors tensors;
  for (const auto type : {torch::kBool, torch::kUInt8, torch::kInt32, torch::kInt64,
                          torch::kBFloat16, torch::kHalf, torch::kFloat32, torch::kFloat64}) {
    tensors.emplace_back(toString(type), torch::randn({3, 5}).mul(100).to(type).t());
  }
  tensors.emplace_back("scalar", torch::tensor(1.5));
  tensors.emplace_back("empty", torch::zeros({0, 3}));
  const auto read = TensorsOf("x", TensorFileBytes(tensors));
  ASSERT_EQ(read.size(), tensors.size());
  for (const auto& [name, tensor] : tensors) {
    EXPECT_TRUE(torch::equal(read.at(name), tensor)) << name;
    EXPECT_EQ(read.at(name).sizes(), tensor.sizes()) << name;
  }
}

TEST(Restore, RefusesWhatIsMissingForeignOrOfAnotherShape) {
  torch::Tensor weight = torch::zeros({2});
  const std::vector<StatePart> parts = {
      {"model", [&](const VisitTensor& visit) { visit("w", weight); }}};
  const auto refusal = [&](const std::map<std::string, torch::Tensor>& state) -> std::string {
    try {
      Restore("x", state, parts);
    } catch (const InputRejected& rejected) {
      return rejected.cause;
    }
    return "accepted";
  };
  EXPECT_EQ(refusal({{"model/w", torch::ones({2})}}), "accepted");
  EXPECT_TRUE(torch::equal(weight, torch::ones({2})));
  EXPECT_THAT(refusal({}), HasSubstr("lacks 'model/w'"));
  EXPECT_THAT(refusal({{"model/w", torch::ones({3})}}), HasSubstr("holds 'model/w' as Float [3]"));
  EXPECT_THAT(refusal({{"model/w", torch::ones({2}, torch::kDouble)}}), HasSubstr("Double"));
  EXPECT_THAT(refusal({{"model/w", torch::ones({2})}, {"model/v", torch::ones({2})}}),
              HasSubstr("holds 'model/v', which this run does not have"));
}

}  // namespace
}  // namespace dlcheck::reference
