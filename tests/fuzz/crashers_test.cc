// What a fuzzer once broke something with is read today as anything else is. A crasher is a file
// crashers/TARGET/NAME; where one is found, it is put there before the fault is mended.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "checks/records/line_file.h"
#include "tests/fuzz/targets.h"

namespace dlcheck::fuzz {
namespace {

const std::map<std::string, void (*)(std::string_view)>& Targets() {
  static const std::map<std::string, void (*)(std::string_view)> targets = {
      {"baseline", ReadBaselineFile}, {"configuration", ReadConfigurationFile},
      {"fixture", ReadFixtureFile},   {"import", ImportData},
      {"log", ReadLogFile},           {"names", ReadNamesFile},
      {"recipe", ReadRecipeFile},     {"records", ReadRecordFile},
      {"result", ReadResultFile},     {"rendered", RenderFinding},
      {"run_files", ReadRunFiles},    {"samples", ReadSamplesFile},
#ifdef DLCHECK_FUZZ_TENSORS
      {"tensors", ReadTensorFile},
#endif
  };
  return targets;
}

TEST(Crashers, AreReadAsAnythingElse) {
  int read = 0;
  const std::string folder = DLCHECK_SOURCE_DIR "/tests/fuzz/crashers";
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    const auto target = Targets().find(entry.path().parent_path().filename());
    if (target == Targets().end()) continue;  // of what was not built
    SCOPED_TRACE(entry.path());
    const Expected<std::string> bytes = ReadWholeFile(entry.path(), 1 << 24);
    ASSERT_TRUE(bytes.ok());
    target->second(*bytes);
    ++read;
  }
  EXPECT_GT(read, 0);
}

TEST(Targets, TakeNoBytesAndAnyBytes) {
  for (const auto& [name, target] : Targets()) {
    SCOPED_TRACE(name);
    std::string bytes;
    for (int i = 0; i < 300; ++i) {
      target(bytes);
      bytes += static_cast<char>(i * 7);
    }
  }
}

}  // namespace
}  // namespace dlcheck::fuzz
