#include "checks/records/line_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <iterator>
#include <random>

#include "checks/records/request.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

TEST(LineFile, BringsBackWhatWasEscaped) {
  const std::string odd("tab\t newline\n percent % return\r null\0 end", 41);
  EXPECT_EQ(UnescapeField(EscapeField(odd)), odd);
  EXPECT_EQ(EscapeField("a\tb%"), "a%09b%25");
}

TEST(LineFile, KeepsMalformedEscapesAsTheyStand) {
  EXPECT_EQ(UnescapeField("50%"), "50%");
  EXPECT_EQ(UnescapeField("%4"), "%4");
  EXPECT_EQ(UnescapeField("%zz"), "%zz");
}

TEST(LineFile, IgnoresATornLastLine) {
  const auto lines = ParseLines("one\t1\n\ntwo\t2\nthr");
  ASSERT_EQ(lines.size(), 2u);
  EXPECT_EQ(lines[1], (LineFields{"two", "2"}));
}

TEST(LineFile, SurvivesRandomBytes) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string bytes(round, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    for (const LineFields& fields : ParseLines(bytes + "\n")) {
      EXPECT_FALSE(fields.empty());
    }
    EXPECT_EQ(UnescapeField(EscapeField(bytes)), bytes);
  }
}

TEST(LineFile, RefusesAFileOverItsLimit) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteWholeFile(folder / "big", std::string(100, 'x')).ok());
  const auto text = ReadWholeFile(folder / "big", 99);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.failure().cause, Failure::Cause::kInvalid);
}

TEST(LineFile, RefusesAPipeInsteadOfWaitingForIt) {
  const TemporaryFolder folder;
  ASSERT_EQ(mkfifo((folder / "pipe").c_str(), 0600), 0);
  const auto text = ReadWholeFile(folder / "pipe", 99);
  ASSERT_FALSE(text.ok());
  EXPECT_EQ(text.failure().cause, Failure::Cause::kInvalid);
}

TEST(LineFile, ReplacesAFileAtOnceAndLeavesNothingBeside) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteWholeFile(folder / "file", "old").ok());
  struct stat before = {}, after = {};
  ASSERT_EQ(chmod((folder / "file").c_str(), 0640), 0);
  ASSERT_EQ(stat((folder / "file").c_str(), &before), 0);
  ASSERT_TRUE(WriteWholeFile(folder / "file", "new").ok());
  ASSERT_EQ(stat((folder / "file").c_str(), &after), 0);
  EXPECT_NE(before.st_ino, after.st_ino);
  EXPECT_EQ(after.st_mode & 0777, 0640u);
  EXPECT_EQ(*ReadWholeFile(folder / "file", 99), "new");
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder / ""), {}), 1);
}

TEST(LineFile, WritesWhereALinkLeads) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteWholeFile(folder / "file", "old").ok());
  ASSERT_EQ(symlink((folder / "file").c_str(), (folder / "link").c_str()), 0);
  ASSERT_TRUE(WriteWholeFile(folder / "link", "new").ok());
  EXPECT_EQ(*ReadWholeFile(folder / "file", 99), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link"));
}

TEST(Request, ReadsBackWhatWasWritten) {
  const TemporaryFolder folder;
  Request request;
  request.run_folder = "/tmp/a folder\twith a tab";
  request.experiment = "one_batch";
  request.repetition = 2;
  request.steps = 300;
  request.seed = -3;
  request.reference_rate = 3e-4;
  ASSERT_TRUE(WriteWholeFile(folder / "request", FormatRequest(request)).ok());
  const auto read = ReadRequest(folder / "request");
  ASSERT_TRUE(read.ok());
  EXPECT_TRUE(*read == request);
}

TEST(Request, NamesTheKeyThatCannotBeRead) {
  const TemporaryFolder folder;
  ASSERT_TRUE(WriteWholeFile(folder / "request", "run_folder\t/tmp\nsteps\tmany\n").ok());
  const auto read = ReadRequest(folder / "request");
  ASSERT_FALSE(read.ok());
  EXPECT_NE(read.failure().message.find("steps 'many'"), std::string::npos);
}

}  // namespace
}  // namespace dlcheck
