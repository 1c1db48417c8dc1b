#include "checks/records/record_reader.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "checks/records/trace_writer.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

// The stem of two files with so many events, the first of them in this step.
std::string Written(const TemporaryFolder& folder, int events, int64_t step = 0) {
  auto writer = TraceWriter::Create({.run_folder = folder.path(), .process = 7});
  for (int i = 0; i < events; ++i) {
    Record record{};
    record.step = step + i;
    (*writer)->PutEvent(Event::kStep, record);
  }
  (*writer)->End();
  return folder / "records/7-0";
}

// What stops the reading; "whole" where it ends as it should, with so many records before it.
std::string EndOfReading(const std::string& path, int* records = nullptr) {
  auto reader = RecordReader::Open(path);
  if (!reader.ok()) return reader.failure().message;
  Record record;
  int count = 0;
  while (true) {
    const auto more = reader->Next(record);
    if (!more.ok()) return more.failure().message;
    if (!*more) break;
    ++count;
  }
  if (records != nullptr) *records = count;
  return reader->extent().ended ? "whole" : "without an end";
}

TEST(RecordReader, ReadsAllThatWasWritten) {
  TemporaryFolder folder;
  int records = 0;
  EXPECT_EQ(EndOfReading(Written(folder, 300) + ".records", &records), "whole");
  EXPECT_EQ(records, 300);
}

TEST(RecordReader, TakesDescriptorZeroAsAnyOther) {
  TemporaryFolder folder;
  const std::string path = Written(folder, 1) + ".records";
  const auto read_as_zero = [&] {
    close(STDIN_FILENO);
    _exit(EndOfReading(path) == "whole" ? 0 : 1);
  };
  EXPECT_EXIT(read_as_zero(), testing::ExitedWithCode(0), "");
}

TEST(RecordReader, PassesOverSpaceThatWasTakenAhead) {
  TemporaryFolder folder;
  const std::string path = Written(folder, 3) + ".records";
  std::filesystem::resize_file(path, std::filesystem::file_size(path) + 4096);
  int records = 0;
  EXPECT_EQ(EndOfReading(path, &records), "whole");
  EXPECT_EQ(records, 3);
  std::ofstream(path, std::ios::binary | std::ios::app) << std::string(sizeof(Record), 'x');
  EXPECT_NE(EndOfReading(path).find("it has a hole"), std::string::npos);
}

TEST(RecordReader, RefusesWhatStandsBehindTheEnd) {
  TemporaryFolder folder;
  const std::string path = Written(folder, 3) + ".records";
  std::ofstream(path, std::ios::binary | std::ios::app) << std::string(sizeof(Record), 'x');
  EXPECT_NE(EndOfReading(path).find("behind its end"), std::string::npos);
}

TEST(RecordReader, TakesNoStepThatNoCounterReaches) {
  TemporaryFolder before, first, last, beyond;
  EXPECT_EQ(EndOfReading(Written(first, 1, -1) + ".records"), "whole");
  EXPECT_NE(EndOfReading(Written(before, 1, -2) + ".records").find("impossible"),
            std::string::npos);
  EXPECT_EQ(EndOfReading(Written(last, 1, int64_t{1} << 53) + ".records"), "whole");
  EXPECT_NE(
      EndOfReading(Written(beyond, 1, (int64_t{1} << 53) + 1) + ".records").find("impossible"),
      std::string::npos);
}

TEST(RecordReader, SaysWhatIsNoFileOfRecords) {
  TemporaryFolder folder;
  EXPECT_NE(EndOfReading(folder / "none").find("No such file"), std::string::npos);
  EXPECT_NE(EndOfReading(folder.path()).find("not a regular file"), std::string::npos);
  std::ofstream(folder / "short") << "DL";
  EXPECT_NE(EndOfReading(folder / "short").find("ends inside its header"), std::string::npos);
  std::ofstream(folder / "other") << std::string(200, 'x');
  EXPECT_NE(EndOfReading(folder / "other").find("not a record file"), std::string::npos);
}

TEST(RecordFileStems, AreSortedAndThoseOfRecordsAlone) {
  TemporaryFolder folder;
  EXPECT_TRUE(RecordFileStems(folder.path())->empty());
  mkdir((folder / "records").c_str(), 0700);
  for (const char* name : {"9-0.records", "9-0.names", "10-0.records", ".records"}) {
    std::ofstream(folder / ("records/" + std::string(name))) << "";
  }
  const auto stems = RecordFileStems(folder.path());
  ASSERT_TRUE(stems.ok());
  EXPECT_EQ(*stems, (std::vector<std::string>{folder / "records/10-0", folder / "records/9-0"}));
}

}  // namespace
}  // namespace dlcheck
