// Where a result goes beside the text on standard error.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "diagnostics/render/render.h"

namespace dlcheck::cli {

struct Output {
  enum class Format : uint8_t { kText, kJson, kJunit, kGithub, kHtml };
  Format format;
  std::string file;  // empty: standard error
};

// "junit=FILE", "json=FILE", "text=FILE", "html=FILE", "github" or "github=FILE". Errors:
// InvalidArgument.
absl::StatusOr<Output> OutputFrom(const std::string& text);

// Renders and writes. Errors: Unavailable.
absl::Status Write(const Output& output, const Report& report, const Frame& frame,
                   const SeriesOfRun& series);

}  // namespace dlcheck::cli
