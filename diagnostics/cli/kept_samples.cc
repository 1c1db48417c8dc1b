#include "diagnostics/cli/kept_samples.h"

#include <algorithm>
#include <filesystem>

#include "checks/records/line_file.h"

namespace dlcheck::cli {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSampleBytes = size_t{32} << 20;  // of one file

std::vector<fs::path> EntriesOf(const fs::path& folder) {
  std::vector<fs::path> entries;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; at != end && !error; at.increment(error)) {
    entries.push_back(at->path());
  }
  std::ranges::sort(entries);
  return entries;
}

bool HoldsSamples(const fs::path& file) {
  std::error_code error;
  return file.filename().string().starts_with("samples-") && file.extension() == ".jsonl" &&
         fs::is_regular_file(fs::symlink_status(file, error));
}

}  // namespace

std::vector<KeptRows> SamplesIn(const std::string& folder) {
  std::vector<KeptRows> all;
  for (const fs::path& run : EntriesOf(fs::path(folder) / "runs")) {
    for (const fs::path& file : EntriesOf(run)) {
      if (!HoldsSamples(file)) continue;
      const Expected<std::string> lines = ReadWholeFile(file.string(), kMostSampleBytes);
      if (!lines.ok()) continue;
      std::vector<KeptRows> kept = ParseSamples(*lines);
      std::ranges::move(kept, std::back_inserter(all));
    }
  }
  return all;
}

}  // namespace dlcheck::cli
