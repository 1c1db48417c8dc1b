#include "checks/observe/launcher/source_lines.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "checks/engine/text.h"
#include "checks/records/line_file.h"
#include "checks/records/names.h"
#include "checks/records/trace_writer.h"
#include "tests/observe/library/include/torch/calls_back.h"
#include "tests/temporary_folder.h"

namespace dlcheck {
namespace {

using testing::EndsWith;
using testing::HasSubstr;

constexpr int kFrames = 6;

// The calls that are under way, as the preloaded probe writes them: the innermost first.
__attribute__((noinline)) std::string CallsUnderWay(const char* mark) {
  static const std::string program = std::filesystem::read_symlink("/proc/self/exe");
  void* addresses[kFrames];
  const int count = backtrace(addresses, kFrames);
  std::string site = mark;
  for (int i = 1; i < count; ++i) {
    Dl_info file = {};
    const char* before = static_cast<const char*>(addresses[i]) - 1;
    if (dladdr(before, &file) == 0) break;
    const auto offset = static_cast<size_t>(before - static_cast<const char*>(file.dli_fbase));
    absl::StrAppend(&site, i == 1 ? "" : "|", program, "+0x", absl::Hex(offset));
  }
  return site;
}

struct Net {
  __attribute__((noinline)) std::string forward(const char* mark) {
    std::string site = CallsBack(CallsUnderWay, mark);
    asm volatile("" ::: "memory");
    return site;
  }
};
constexpr int kForwardLine = __LINE__ - 5;

// What the file of lines says of one site: file, line and function.
LineFields LineOfSite(const std::string& site) {
  TemporaryFolder folder;
  auto writer = TraceWriter::Create({.run_folder = folder.path(), .process = 7});
  (*writer)->Site(site, 0, "");
  (*writer)->PutEvent(Event::kStep, Record{});
  (*writer)->End();
  WriteSourceLines(folder.path());
  std::ostringstream text;
  text << std::ifstream(folder / kLinesFile).rdbuf();
  for (const LineFields& fields : ParseLines(text.str())) {
    if (fields[0] == site) return fields;
  }
  return {site, "", "", ""};
}

TEST(SourceLines, OfACallAreThoseOutsideOfLibraries) {
  const LineFields line = LineOfSite(Net().forward("@"));
  EXPECT_THAT(line[1], EndsWith("tests/observe/source_lines_test.cc"));
  EXPECT_EQ(line[2], StrCat(kForwardLine));
  EXPECT_THAT(line[3], HasSubstr("Net::forward(char const*)"));
}

TEST(SourceLines, OfAForwardPassAreThoseOfItsCaller) {
  const LineFields line = LineOfSite(Net().forward("@^"));
  const int here = __LINE__ - 1;
  EXPECT_THAT(line[1], EndsWith("tests/observe/source_lines_test.cc"));
  EXPECT_EQ(line[2], StrCat(here));
  EXPECT_THAT(line[3], HasSubstr("TestBody"));
}

TEST(SourceLines, AreNoneOfAFileThatIsNotThere) {
  const LineFields line = LineOfSite("@/no/such/program+0x10");
  EXPECT_EQ(line[1], "");
  EXPECT_EQ(line[2], "0");
}

}  // namespace
}  // namespace dlcheck
