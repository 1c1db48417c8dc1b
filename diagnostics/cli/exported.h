// `--export FORMAT=PATH`: the numbers of a run for another tool.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "diagnostics/logs/export.h"

namespace dlcheck::cli {

struct Export {
  enum class Format : uint8_t { kCsv, kTensorboard, kMlflow };
  Format format;
  std::string path;  // a file for CSV, else a folder, which is made
};

// Errors: InvalidArgument.
absl::StatusOr<std::vector<Export>> ExportsFrom(const std::vector<std::string>& texts);

// Says on standard error what was written. Errors: Unavailable.
absl::Status WriteExports(const std::vector<Export>& exports, const Run& run);

}  // namespace dlcheck::cli
