// Where a result goes beside the text on standard error.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "diagnostics/render/render.h"

namespace dlcheck::cli {

struct Output {
  enum class Format : uint8_t {
    kText,
    kConcise,
    kJson,
    kJsonLines,
    kJunit,
    kSarif,
    kGithub,
    kGitlab,
    kMarkdown,
    kHtml
  };
  Format format;
  std::string file;  // empty: standard error
};

// "FORMAT=FILE" with one of text, concise, json, jsonl, junit, sarif, github, gitlab, markdown and
// html; "github" and "concise" may go without a file. Errors:
// InvalidArgument.
absl::StatusOr<Output> OutputFrom(const std::string& text);

// Renders and writes. Errors: Unavailable.
absl::Status Write(const Output& output, const Report& report, const Frame& frame,
                   const SeriesOfRun& series);

}  // namespace dlcheck::cli
