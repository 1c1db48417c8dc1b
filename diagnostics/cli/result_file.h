// Reads result.json back, so that a result can be rendered again without its records.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "diagnostics/render/render.h"

namespace dlcheck::cli {

// More than any result takes: a hostile file is refused before it is read.
inline constexpr size_t kMostResultBytes = size_t{256} << 20;

struct ReadResult {
  Report report;
  Frame frame;
};

// The inverse of RenderJson: rendering what is read gives the same bytes. Errors: InvalidArgument
// if the text is no result of this version, or names a check that this version does not have.
absl::StatusOr<ReadResult> ResultFrom(const std::string& json);

}  // namespace dlcheck::cli
