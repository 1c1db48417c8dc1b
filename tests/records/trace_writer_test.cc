#include "checks/records/trace_writer.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "checks/records/names.h"
#include "checks/records/record_reader.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

std::unique_ptr<TraceWriter> MakeWriter(const TemporaryFolder& folder, int64_t cap = 1 << 28) {
  auto writer =
      TraceWriter::Create({.run_folder = folder.path(), .size_cap_bytes = cap, .process = 42});
  return writer.ok() ? std::move(*writer) : nullptr;
}

std::vector<Record> ReadAll(const std::string& stem) {
  auto reader = RecordReader::Open(stem + ".records");
  std::vector<Record> records;
  Record record;
  while (reader.ok()) {
    const auto more = reader->Next(record);
    if (!more.ok() || !*more) break;
    records.push_back(record);
  }
  return records;
}

std::string Contents(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

void Overwrite(const std::string& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

TEST(TraceWriter, GivesBackRecordsAndNames) {
  const TemporaryFolder folder;
  {
    auto writer = MakeWriter(folder);
    ASSERT_NE(writer, nullptr);
    const uint32_t weight = writer->Thing("parameter", 0, "fc\t1.weight");
    EXPECT_EQ(writer->Thing("parameter", 0, "fc\t1.weight"), weight);
    writer->Attribute(weight, "shape", "10x64");
    Record fields{};
    fields.step = 3;
    fields.thing = weight;
    fields.value = 0.5;
    writer->PutQuantity(Quantity::kGradientNorm, fields);
    writer->PutGap(Event::kStep, 64, 127, 64, Record{});
  }
  const auto stems = RecordFileStems(folder.path());
  ASSERT_EQ(stems.size(), 1u);
  const auto records = ReadAll(stems[0]);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].value, 0.5);
  EXPECT_EQ(records[1].kind, Kind::kGap);
  EXPECT_EQ(records[1].aux, 127);
  const auto names = ReadNames(stems[0] + ".names");
  ASSERT_TRUE(names.ok());
  const NamedThing& thing = names->things.at(records[0].thing);
  EXPECT_EQ(thing.name, "fc\t1.weight");
  EXPECT_EQ(thing.attributes.at("shape"), "10x64");
}

TEST(TraceWriter, GrowsByExtentsAndGivesBackWhatItDidNotUse) {
  const TemporaryFolder folder;
  constexpr int kRecords = 40000;
  {
    auto writer = MakeWriter(folder);
    for (int i = 0; i < kRecords; ++i) writer->PutEvent(Event::kBackward, Record{});
  }
  const std::string stem = RecordFileStems(folder.path())[0];
  EXPECT_EQ(ReadAll(stem).size(), size_t{kRecords});
  EXPECT_EQ(std::filesystem::file_size(stem + ".records"), 64u * (kRecords + 1));
}

TEST(TraceWriter, SaysAtItsCapThatItWentQuiet) {
  const TemporaryFolder folder;
  {
    auto writer = MakeWriter(folder, 64 * 100);
    for (int i = 0; i < 1000; ++i) writer->PutEvent(Event::kBackward, Record{});
    EXPECT_TRUE(writer->quiet());
  }
  const std::string stem = RecordFileStems(folder.path())[0];
  const auto records = ReadAll(stem);
  ASSERT_EQ(records.size(), 99u);
  EXPECT_EQ(records.back().number, static_cast<uint16_t>(Event::kQuiet));
  EXPECT_NE(ReadNames(stem + ".names")->process.at("quiet").find("cap"), std::string::npos);
}

TEST(TraceWriter, WritesNothingInAForkedChild) {
  const TemporaryFolder folder;
  auto writer = MakeWriter(folder);
  writer->PutEvent(Event::kBackward, Record{});
  if (const pid_t child = fork(); child == 0) {
    writer->PutEvent(Event::kStep, Record{});
    writer->Thing("parameter", 0, "of the child");
    _exit(0);
  } else {
    waitpid(child, nullptr, 0);
  }
  writer->PutEvent(Event::kStep, Record{});
  writer.reset();
  const std::string stem = RecordFileStems(folder.path())[0];
  EXPECT_EQ(ReadAll(stem).size(), 2u);
  EXPECT_TRUE(ReadNames(stem + ".names")->things.empty());
}

class DamagedFile : public testing::Test {
 protected:
  void SetUp() override {
    auto writer = MakeWriter(folder_);
    for (int i = 0; i < 4; ++i) writer->PutEvent(Event::kBackward, Record{});
    writer.reset();
    path_ = RecordFileStems(folder_.path())[0] + ".records";
    bytes_ = Contents(path_);
  }
  Failure::Cause Open(const std::string& bytes) {
    Overwrite(path_, bytes);
    const auto reader = RecordReader::Open(path_);
    EXPECT_FALSE(reader.ok());
    EXPECT_NE(reader.failure().message.find(path_), std::string::npos);
    return reader.failure().cause;
  }
  TemporaryFolder folder_;
  std::string path_, bytes_;
};

TEST_F(DamagedFile, IsForeignWithoutTheMark) {
  EXPECT_EQ(Open(std::string(1000, 'x')), Failure::Cause::kInvalid);
}

TEST_F(DamagedFile, IsDamagedInsideItsHeader) {
  EXPECT_EQ(Open(bytes_.substr(0, 63)), Failure::Cause::kDamaged);
  EXPECT_EQ(Open(""), Failure::Cause::kDamaged);
}

TEST_F(DamagedFile, IsRefusedWhenNewer) {
  bytes_[12] = 2;
  EXPECT_EQ(Open(bytes_), Failure::Cause::kNewer);
}

TEST_F(DamagedFile, PassesOverATornLastRecord) {
  Overwrite(path_, bytes_.substr(0, bytes_.size() - 1));
  EXPECT_EQ(ReadAll(path_.substr(0, path_.size() - 8)).size(), 3u);
}

TEST_F(DamagedFile, StopsAtARecordThatCannotBeOne) {
  bytes_[64 * 3] = 9;
  Overwrite(path_, bytes_);
  auto reader = RecordReader::Open(path_);
  Record record;
  ASSERT_TRUE(*reader->Next(record));
  ASSERT_TRUE(*reader->Next(record));
  const auto third = reader->Next(record);
  ASSERT_FALSE(third.ok());
  EXPECT_NE(third.failure().message.find("record 2"), std::string::npos);
}

TEST_F(DamagedFile, NeverCrashesOnAnyFlippedByte) {
  for (size_t at = 0; at < bytes_.size(); ++at) {
    std::string flipped = bytes_;
    flipped[at] ^= 0x55;
    Overwrite(path_, flipped);
    EXPECT_LE(ReadAll(path_.substr(0, path_.size() - 8)).size(), 4u);
  }
}

}  // namespace
}  // namespace dlcheck
