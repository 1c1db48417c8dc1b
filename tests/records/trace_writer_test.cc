#include "checks/records/trace_writer.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
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

struct Reading {
  std::vector<Record> records;
  Extent extent;
  std::string damage;
};

Reading Read(const std::string& stem) {
  auto reader = RecordReader::Open(stem + ".records");
  Reading reading;
  Record record;
  while (reader.ok()) {
    const auto more = reader->Next(record);
    if (!more.ok()) reading.damage = more.failure().message;
    if (!more.ok() || !*more) break;
    reading.records.push_back(record);
  }
  if (reader.ok()) reading.extent = reader->extent();
  return reading;
}

std::vector<Record> ReadAll(const std::string& stem) { return Read(stem).records; }

Names NamesOf(const std::string& stem) {
  const auto names = ReadNames(stem + ".names", Read(stem).extent);
  EXPECT_TRUE(names.ok()) << names.failure().message;
  return names.ok() ? *names : Names();
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
  const auto stems = *RecordFileStems(folder.path());
  ASSERT_EQ(stems.size(), 1u);
  const auto records = ReadAll(stems[0]);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].value, 0.5);
  EXPECT_EQ(records[1].kind, Kind::kGap);
  EXPECT_EQ(records[1].aux, 127);
  const Names names = NamesOf(stems[0]);
  const NamedThing& thing = names.things.at(records[0].thing);
  EXPECT_EQ(thing.name, "fc\t1.weight");
  EXPECT_EQ(thing.attributes.at("shape"), "10x64");
}

TEST(TraceWriter, RecordsNothingAfterItsEnd) {
  const TemporaryFolder folder;
  {
    auto writer = MakeWriter(folder);
    ASSERT_NE(writer, nullptr);
    writer->PutQuantity(Quantity::kGradientNorm, {});
    writer->End();
    const std::string ended = Contents(folder.path() + "/records/42-0.records");
    writer->PutQuantity(Quantity::kGradientNorm, {});
    writer->Attribute(0, "late", "1");
    writer->Flush();
    EXPECT_EQ(Contents(folder.path() + "/records/42-0.records"), ended);
  }
  const Reading reading = Read(folder.path() + "/records/42-0");
  EXPECT_EQ(reading.records.size(), 1u);
  EXPECT_TRUE(reading.extent.ended);
  EXPECT_EQ(reading.damage, "");
}

TEST(TraceWriter, WritesBlocksAndGivesBackWhatItDidNotUse) {
  const TemporaryFolder folder;
  constexpr int kRecords = 40000;
  {
    auto writer = MakeWriter(folder);
    for (int i = 0; i < kRecords; ++i) writer->PutEvent(Event::kBackward, Record{});
  }
  const std::string stem = RecordFileStems(folder.path())->front();
  const Reading reading = Read(stem);
  EXPECT_EQ(reading.records.size(), size_t{kRecords});
  EXPECT_TRUE(reading.extent.ended);
  EXPECT_EQ(std::filesystem::file_size(stem + ".records"), reading.extent.bytes);
}

TEST(TraceWriter, WritesTheFirstStepsAsTheyEnd) {
  const TemporaryFolder folder;
  auto writer =
      TraceWriter::Create({.run_folder = folder.path(), .clock = [] { return uint64_t{1000}; }});
  for (size_t step = 1; step <= 3; ++step) {
    (*writer)->PutEvent(Event::kBackward, Record{});
    (*writer)->EndStep();
    EXPECT_EQ(ReadAll(RecordFileStems(folder.path())->front()).size(), step);
  }
}

TEST(TraceWriter, WritesAtALaterStepWhatHasWaited) {
  static uint64_t now = 1000;
  constexpr size_t kRecordsOfFirstSteps = 256;
  const TemporaryFolder folder;
  auto writer = TraceWriter::Create({.run_folder = folder.path(), .clock = [] { return now; }});
  for (size_t i = 0; i < kRecordsOfFirstSteps; ++i) (*writer)->PutEvent(Event::kBackward, Record{});
  (*writer)->Flush();
  (*writer)->PutEvent(Event::kBackward, Record{});
  (*writer)->EndStep();
  const std::string stem = RecordFileStems(folder.path())->front();
  EXPECT_EQ(ReadAll(stem).size(), kRecordsOfFirstSteps);
  now += 51'000'000;
  (*writer)->EndStep();
  EXPECT_EQ(ReadAll(stem).size(), kRecordsOfFirstSteps + 1);
  EXPECT_FALSE(Read(stem).extent.ended);
}

// Opening a file fails while it lives.
class NoDescriptors {
 public:
  NoDescriptors() {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit none{.rlim_cur = 0, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &none);
  }
  ~NoDescriptors() { setrlimit(RLIMIT_NOFILE, &before_); }

 private:
  rlimit before_{};
};

// Each try costs a pass over all that waits, so a try a record would slow the program down.
TEST(TraceWriter, TriesAgainOnlyAfterAWhileWhereNothingCanBeWritten) {
  static uint64_t now = 1000;
  constexpr int kMoreThanABlock = 2000;
  const TemporaryFolder folder;
  auto writer = TraceWriter::Create({.run_folder = folder.path(), .clock = [] { return now; }});
  const std::string stem = RecordFileStems(folder.path())->front();
  {
    const NoDescriptors none;
    for (int i = 0; i < kMoreThanABlock; ++i) (*writer)->PutEvent(Event::kBackward, Record{});
  }
  (*writer)->PutEvent(Event::kBackward, Record{});
  EXPECT_EQ(ReadAll(stem).size(), 0U);
  now += 110'000'000;
  (*writer)->PutEvent(Event::kBackward, Record{});
  EXPECT_EQ(ReadAll(stem).size(), kMoreThanABlock + 2U);
  EXPECT_FALSE((*writer)->quiet());
}

TEST(TraceWriter, KeepsNoDescriptor) {
  const TemporaryFolder folder;
  const int before = dup(0);
  close(before);
  auto writer = MakeWriter(folder);
  writer->PutEvent(Event::kBackward, Record{});
  const int after = dup(0);
  close(after);
  EXPECT_EQ(before, after);
}

TEST(TraceWriter, LeavesAFileAloneThatTookThePlaceOfItsOwn) {
  const TemporaryFolder folder;
  auto writer = MakeWriter(folder);
  writer->PutEvent(Event::kBackward, Record{});
  const std::string path = RecordFileStems(folder.path())->front() + ".records";
  std::filesystem::remove(path);
  Overwrite(path, std::string(5000, 'x'));
  writer->PutEvent(Event::kStep, Record{});
  writer.reset();
  EXPECT_EQ(Contents(path), std::string(5000, 'x'));
  EXPECT_NE(Contents(folder / kLossesFile).find("replaced"), std::string::npos);
}

TEST(TraceWriter, LeavesAFileAloneThatWasCut) {
  const TemporaryFolder folder;
  auto writer = MakeWriter(folder);
  for (int i = 0; i < 4000; ++i) writer->PutEvent(Event::kBackward, Record{});
  const std::string path = RecordFileStems(folder.path())->front() + ".records";
  std::filesystem::resize_file(path, 0);
  for (int i = 0; i < 4000; ++i) writer->PutEvent(Event::kBackward, Record{});
  EXPECT_TRUE(writer->quiet());
  writer.reset();
  EXPECT_EQ(std::filesystem::file_size(path), 0u);
  EXPECT_NE(Contents(folder / kLossesFile).find("cut"), std::string::npos);
}

TEST(TraceWriter, SaysAtItsCapThatItWentQuiet) {
  const TemporaryFolder folder;
  {
    auto writer = MakeWriter(folder, 64 * 100);
    for (int i = 0; i < 1000; ++i) writer->PutEvent(Event::kBackward, Record{});
    EXPECT_TRUE(writer->quiet());
  }
  const std::string stem = RecordFileStems(folder.path())->front();
  const auto records = ReadAll(stem);
  ASSERT_EQ(records.size(), 96u);
  EXPECT_EQ(std::filesystem::file_size(stem + ".records"), 64u * 100);
  EXPECT_EQ(records.back().number, static_cast<uint16_t>(Event::kQuiet));
  EXPECT_NE(NamesOf(stem).process.at("quiet").find("cap"), std::string::npos);
  EXPECT_TRUE(Read(stem).extent.ended);
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
  const std::string stem = RecordFileStems(folder.path())->front();
  EXPECT_EQ(ReadAll(stem).size(), 2u);
  EXPECT_TRUE(NamesOf(stem).things.empty());
}

class DamagedFile : public testing::Test {
 protected:
  void SetUp() override {
    auto writer = MakeWriter(folder_);
    for (int i = 0; i < 4; ++i) writer->PutEvent(Event::kBackward, Record{});
    writer.reset();
    path_ = RecordFileStems(folder_.path())->front() + ".records";
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

TEST_F(DamagedFile, IsRefusedInAnotherFormat) {
  bytes_[12] = 3;
  EXPECT_EQ(Open(bytes_), Failure::Cause::kNewer);
  bytes_[12] = 1;
  EXPECT_EQ(Open(bytes_), Failure::Cause::kNewer);
}

TEST_F(DamagedFile, HasNoEndWhereItsLastBlockIsTorn) {
  Overwrite(path_, bytes_.substr(0, bytes_.size() - 1));
  const Reading reading = Read(path_.substr(0, path_.size() - 8));
  EXPECT_TRUE(reading.records.empty());
  EXPECT_FALSE(reading.extent.ended);
  EXPECT_EQ(reading.damage, "");
}

TEST_F(DamagedFile, GivesNoRecordOfABlockThatWasChanged) {
  bytes_[64 * 3] = 3;  // one kind of record for another
  Overwrite(path_, bytes_);
  const Reading reading = Read(path_.substr(0, path_.size() - 8));
  EXPECT_TRUE(reading.records.empty());
  EXPECT_NE(reading.damage.find("not as it was written"), std::string::npos);
}

TEST_F(DamagedFile, IsToldFromOneThatHasZerosBehindIt) {
  Overwrite(path_, bytes_.substr(0, 128) + std::string(4096, '\0'));
  EXPECT_EQ(Read(path_.substr(0, path_.size() - 8)).damage, "");
  Overwrite(path_, bytes_.substr(0, 128) + std::string(64, '\0') + bytes_.substr(192));
  EXPECT_NE(Read(path_.substr(0, path_.size() - 8)).damage.find("hole"), std::string::npos);
  Overwrite(path_, bytes_ + std::string(64, '\0'));
  EXPECT_EQ(Read(path_.substr(0, path_.size() - 8)).damage, "");
  Overwrite(path_, bytes_ + bytes_.substr(64, 64));
  EXPECT_NE(Read(path_.substr(0, path_.size() - 8)).damage.find("behind its end"),
            std::string::npos);
}

TEST_F(DamagedFile, SaysSoWhicheverByteIsFlipped) {
  const std::string stem = path_.substr(0, path_.size() - 8);
  for (size_t at = 0; at < bytes_.size(); ++at) {
    std::string flipped = bytes_;
    flipped[at] ^= 0x55;
    Overwrite(path_, flipped);
    if (!RecordReader::Open(path_).ok()) continue;
    const Reading reading = Read(stem);
    EXPECT_FALSE(reading.damage.empty() && reading.extent.ended) << "byte " << at;
  }
}

}  // namespace
}  // namespace dlcheck
